//! The commands, one file each.

mod add;
mod anchor;
mod audit;
mod begin;
mod brief;
mod clear;
mod compact;
mod config;
mod convert;
mod demo;
mod demo_shelves;
mod doctor;
mod edit;
mod export;
mod glossary;
mod help;
mod hook;
mod import;
mod import_ask;
mod init;
mod input;
mod last;
mod lesson;
mod lifecycle;
#[cfg(feature = "server")]
mod mcp;
mod merge_driver;
mod missing;
mod model;
mod note;
#[cfg(feature = "server")]
mod open;
mod pages;
mod pick;
mod pin;
mod propose;
mod recall;
mod record;
mod reference;
mod remember;
mod review;
mod review_list;
mod review_screen;
mod scan;
mod scan_report;
mod search;
#[cfg(feature = "server")]
mod serve;
mod setup;
mod setup_ask;
mod setup_clients;
mod setup_first;
mod setup_purge;
mod setup_receipt;
mod show;
mod snapshot;
mod staged;
mod status;
mod sync;
#[cfg(feature = "postgres")]
mod team;
mod undo;
mod user;
mod vault;
mod verify;

pub(crate) use crate::output::visible;

use crate::args::{Args, Command, Last, MemoryVerb, One, RecordAction};
use crate::output::Out;
use crate::wiring;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::{Added, told};

/// Most files that one line names.
const NAMED: usize = 5;

/// Runs a command; the number is the exit code. What it passed over is said behind its answer, in a line.
pub(crate) fn run(args: &Args, out: &Out) -> Result<u8> {
    if args.database.as_deref().is_some_and(wiring::shows_password)
        && !matches!(args.command, Command::Hook(_))
    {
        out.note(
            "other accounts of this machine see a password on the command line: use PGPASSWORD, ~/.pgpass or HEIRLOOM_DATABASE_URL",
        );
    }
    if args.command.is_read() {
        out.pages();
    }
    let ended = run_alone(args, out).map_err(|fault| match args.command {
        Command::Record(_) | Command::Hook(_) => fault,
        _ => told::in_own_words(fault),
    });
    wiring::uncommitted().into_iter().for_each(|why| out.note(visible(&one_line(&why))));
    if ended.is_ok() && wiring::is_read_only() {
        out.note("this memory is read-only: you can read it, and nothing can be saved");
    }
    let over = wiring::passed_over();
    // `verify` has said it with what to do, and the record tools have words of their own.
    let has_said = matches!(args.command, Command::Verify(_) | Command::Record(_) | Command::Hook(_));
    if !over.is_empty() && !has_said {
        let named = over.iter().take(NAMED).map(|(file, why)| format!("`{file}` ({why})"));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if over.len() > NAMED {
            named.push_str(&format!(" and {} more", over.len() - NAMED));
        }
        let what = if over.len() == 1 {
            "this file is not valid and is"
        } else {
            "these files are not valid and are"
        };
        let line = format!("{what} skipped: {named}; `heirloom verify` says what to do");
        out.note(visible(&one_line(&line)));
    }
    ended
}

fn run_alone(args: &Args, out: &Out) -> Result<u8> {
    match &args.command {
        Command::Init(call) => init::run(args, call, out),
        Command::Setup(call) => setup::run(args, call, out),
        Command::Add(call) => add::run(args, call, out),
        Command::Remember(call) => remember::run(args, call, out),
        Command::Search(call) => search::run(args, call, out),
        Command::Clear(call) => clear::run(args, call, out),
        Command::Memory(call) => match &call.verb {
            MemoryVerb::Clear(call) => clear::run(args, call, out),
            MemoryVerb::Forget(call) => lifecycle::forget(args, call, out),
        },
        Command::Expire(call) => clear::expire(args, call, out),
        Command::User(call) => user::run(args, call, out),
        #[cfg(feature = "postgres")]
        Command::Team(call) => team::run(call, out),
        Command::Show(call) => show::show(args, call, out),
        Command::List(call) => show::list(args, call, out),
        Command::Edit(call) => edit::run(args, call, out),
        Command::Anchor(call) => anchor::run(args, call, out),
        Command::History(call) => show::history(args, call, out),
        Command::Log(call) => match &call.id {
            Some(id) => show::history(args, &One { id: id.clone() }, out),
            None => last::run(args, &Last { limit: call.limit, hook: None }, out),
        },
        Command::Retire(call) => lifecycle::retire(args, call, out),
        Command::Restore(call) => lifecycle::restore(args, call, out),
        Command::Archive(call) => lifecycle::archive(args, call, out),
        Command::Unarchive(call) => lifecycle::unarchive(args, call, out),
        Command::Undo(call) => undo::run(args, call, out),
        Command::Forget(call) => lifecycle::forget(args, call, out),
        Command::Recall(call) => recall::run(args, call, out),
        Command::Why(call) => recall::why(args, call, out),
        Command::Model(call) => model::run(args, call, out),
        Command::Brief(call) => brief::run(args, call, out),
        Command::Snapshot(call) => snapshot::run(args, call, out),
        Command::Review(call) => review::run(args, call, out),
        Command::Trust(call) => review::trust(args, call, out),
        Command::Convert(call) => convert::run(args, call, out),
        Command::Import(call) => import::run(args, call, out),
        Command::Export(call) => export::run(args, call, out),
        Command::Sync(call) => sync::run(args, call, out),
        Command::Compact(call) => compact::run(args, call, out),
        Command::Audit(call) => audit::run(args, call, out),
        Command::Status => status::run(args, out),
        Command::Gc(call) => verify::gc(args, call, out),
        Command::Verify(call) => verify::verify(args, call, out),
        Command::Scan(call) => scan::run(args, call, out),
        Command::Config(call) => config::run(args, call, out),
        Command::Record(call) => match &call.action {
            RecordAction::Write(call) => record::write(args, call, out),
            RecordAction::Candidate(call) => record::candidate(args, call, out),
            RecordAction::Index(call) => record::index(args, call, out),
        },
        Command::Lesson(call) => lesson::run(args, call, out),
        Command::Note(call) => note::run(args, call, out),
        Command::Vault(call) => vault::run(args, call, out),
        Command::Doctor(_) => doctor::run(args, out),
        Command::Last(call) => last::run(args, call, out),
        Command::Hook(call) => hook::run(args, call, out),
        #[cfg(feature = "server")]
        Command::Mcp(call) => mcp::run(args, call),
        #[cfg(feature = "server")]
        Command::Serve(call) => serve::run(args, call, out),
        #[cfg(feature = "server")]
        Command::Open(call) => open::run(args, call, out),
        Command::Demo => demo::run(args, out),
        Command::Completions(call) => pages::completions(call, out),
        Command::Man(call) => pages::man(call, out),
        Command::MergeDriver(call) => merge_driver::run(args, call, out),
        Command::Reference(call) => reference::run(call, out),
        Command::Help(call) => help::run(call, out),
    }
}

/// What became of one memory, said the same way by every command.
fn print_added(out: &Out, word: &str, added: &Added) {
    let path = added.path.as_deref().map(|path| format!(" {}", out.style.dim(&one_line(path))));
    out.line(format!(
        "{} {}{}",
        out.style.green(word),
        out.style.bold(&one_line(added.id.as_str())),
        path.unwrap_or_default()
    ));
    print_assumed(out, added);
    added.notes.iter().for_each(|note| out.note(one_line(note)));
}

/// What nobody said and was put in, in one line.
fn print_assumed(out: &Out, added: &Added) {
    let (empty, assumed): (Vec<&String>, Vec<&String>) =
        added.assumed.iter().partition(|line| line.ends_with(": left empty"));
    let say = |word: &str, lines: Vec<&str>| {
        if !lines.is_empty() {
            out.line(out.style.dim(&format!("  {word} {}", visible(&one_line(&lines.join(", "))))));
        }
    };
    say("assumed", assumed.into_iter().map(String::as_str).collect());
    say(
        "left empty",
        empty.into_iter().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect(),
    );
}

/// `NAME=VALUE` arguments.
fn pairs(given: &[String]) -> Result<Vec<(String, String)>> {
    given
        .iter()
        .map(|pair| {
            pair.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.to_owned())).ok_or_else(
                || {
                    Fault::new(Code::Usage, format!("`{pair}` is not NAME=VALUE"))
                        .hint("for example --field rationale=\"it is fast\"")
                },
            )
        })
        .collect()
}
