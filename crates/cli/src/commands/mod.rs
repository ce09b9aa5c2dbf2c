//! The commands, one file each.

mod add;
mod audit;
mod config;
mod demo;
mod edit;
mod hook;
mod init;
mod lifecycle;
mod names;
mod pages;
mod recall;
mod record;
mod reference;
mod review;
mod scan;
mod scan_report;
mod show;
mod status;

pub(crate) use reference::PAGES;

use crate::args::{Args, Command, RecordAction};
use crate::output::Out;
use crate::wiring::Wired;
use heirloom_core::{Code, Fault, fault::Result};

/// Runs a command; the number is the exit code.
pub(crate) fn run(args: &Args, out: &Out) -> Result<u8> {
    match &args.command {
        Command::Init(call) => init::run(args, call, out),
        Command::Add(call) => add::run(args, call, out),
        Command::Show(call) => show::show(args, call, out),
        Command::List(call) => show::list(args, call, out),
        Command::Edit(call) => edit::run(args, call, out),
        Command::History(call) => show::history(args, call, out),
        Command::Retire(call) => lifecycle::retire(args, call, out),
        Command::Restore(call) => lifecycle::restore(args, call, out),
        Command::Archive(call) => lifecycle::archive(args, call, out),
        Command::Unarchive(call) => lifecycle::unarchive(args, call, out),
        Command::Forget(call) => lifecycle::forget(args, call, out),
        Command::Recall(call) => recall::run(args, call, out),
        Command::Review(call) => review::run(args, call, out),
        Command::Trust(call) => review::trust(args, call, out),
        Command::Audit(call) => audit::run(args, call, out),
        Command::Status => status::status(args, out),
        Command::Gc(call) => status::gc(args, call, out),
        Command::Verify(call) => status::verify(args, call, out),
        Command::Scan(call) => scan::run(args, call, out),
        Command::Config(call) => config::run(args, call, out),
        Command::Record(call) => match &call.action {
            RecordAction::Write(call) => record::write(args, call, out),
            RecordAction::Candidate(call) => record::candidate(args, call, out),
            RecordAction::Index(call) => record::index(args, call, out),
        },
        Command::Hook(call) => hook::run(args, call, out),
        Command::Demo => demo::run(args, out),
        Command::Completions(call) => pages::completions(call, out),
        Command::Man(call) => pages::man(call, out),
        Command::MergeDriver(call) => pages::merge_driver(call),
        Command::Reference(call) => reference::run(call, out),
    }
}

/// One git commit of the memory folder, if the settings want it. Failing to commit never fails a save.
fn auto_commit(wired: &Wired, out: &Out, message: &str) {
    if !wired.engine.settings().auto_commit {
        return;
    }
    let project = wired.engine.project();
    if let Err(why) = heirloom_engine::git::commit(project.folder(), &[project.root().folder()], message) {
        out.note(format!("saved, but not committed: {why}"));
    }
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
