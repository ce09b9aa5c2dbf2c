//! `import`: memories from elsewhere, named or found.

use super::show::visible;
use super::{auto_commit, carry};
use crate::args::{Args, Import};
use crate::output::{Out, Table};
use crate::wiring::Wired;
use crate::{environment, person, wiring};
use heirloom_agents::table::{CLAUDE_CODE, CODEX};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Channel, Code, Fault, Verb, fault::Result};
use heirloom_engine::gate::Entry;
use heirloom_engine::shelf::tiers::is_archive;
use heirloom_engine::transfer::{Homes, Imported, Source, find, gather, import, rehearse};
use serde_json::json;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Refusals and files that are listed; the rest is counted, and `--json` has them all.
const LISTED: usize = 20;

pub(crate) fn run(args: &Args, call: &Import, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    for (wanted, verb) in [(call.even_removed, Verb::Resurrect), (call.vouch, Verb::Accept)] {
        if wanted && !call.dry_run {
            person::checked(&mut wired, verb)?;
        }
    }
    out.warnings(wired.warnings());
    if call.is_auto() {
        return auto(&wired, call, out);
    }
    if let Some(archive) = archive(&wired, call)? {
        return carry::import(&wired, call, archive, out);
    }
    let paths: Vec<PathBuf> = call.paths.iter().map(|path| wired.cwd.join(path)).collect();
    let sources = gather(&paths)?;
    let entry = entry();
    let report = match call.dry_run {
        true => rehearse(&wired.call, &sources, entry)?,
        false => import(&wired.call, &sources, entry)?,
    };
    out.answer(&report, || print(out, &report));
    if !call.dry_run && report.new_count() > 0 {
        auto_commit(&wired, out, &format!("memory: import {} memories", report.new_count()));
    }
    Ok(if report.refused.is_empty() { exit::OK } else { exit::REFUSED })
}

/// The archive of turns and facts that is to be read, if it is one. It goes to a database and not to the project, so it goes alone.
fn archive<'a>(wired: &Wired, call: &'a Import) -> Result<Option<&'a Path>> {
    let is_one = |path: &&PathBuf| {
        let mut beginning = [0; 64];
        let read = std::fs::File::open(wired.cwd.join(path)).and_then(|mut file| file.read(&mut beginning));
        path.as_os_str() == "-" || read.is_ok_and(|count| is_archive(&beginning[..count]))
    };
    let found = call.paths.iter().find(is_one).map(PathBuf::as_path);
    let with_flags = call.all_users || call.even_removed || call.vouch;
    match found {
        Some(_) if call.paths.len() > 1 => {
            Err(Fault::new(Code::Usage, "an archive of turns and facts goes alone")
                .hint("import it by itself, and the other files after it"))
        }
        None if with_flags => Err(Fault::new(
            Code::Usage,
            "--all-users, --even-removed and --vouch are for archives of turns and facts",
        )
        .hint("`heirloom export --shelf tiers --to FILE` makes one")),
        found => Ok(found),
    }
}

/// What is in a file is not this person's word, even if this person brings the file.
fn entry() -> Entry {
    Entry::through(if person::is_present() { Channel::Repository } else { Channel::Agent })
}

/// Finds what there is, shows what would arrive, asks, imports.
fn auto(wired: &Wired, call: &Import, out: &Out) -> Result<u8> {
    let homes = Homes {
        claude_code: environment::agent_folder(&CLAUDE_CODE),
        codex: environment::agent_folder(&CODEX),
    };
    let found = find(wired.call.project(), &homes)?;
    let sources: Vec<Source> = found.iter().flat_map(|origin| origin.sources.iter().cloned()).collect();
    let mut report = rehearse(&wired.call, &sources, entry())?;
    if !out.is_json() {
        for origin in &found {
            out.line(format!("found {}: {} files", out.style.bold(origin.what), origin.sources.len()));
        }
        if found.is_empty() {
            out.say("no agent on this machine has anything about this project yet");
            return Ok(exit::OK);
        }
        print(out, &report);
    }
    let new = report.new_count();
    let waits = report.shelves.iter().any(|shelf| shelf.waiting > 0);
    let wanted = !call.dry_run && (new > 0 || waits);
    let go = wanted && person::confirm(&format!("Import {new} memories?"), call.yes)?;
    if go {
        report = import(&wired.call, &sources, entry())?;
        auto_commit(wired, out, &format!("memory: import {} memories", report.new_count()));
    }
    out.answer(&json!({ "found": found, "report": report }), || {
        if go {
            out.line(format!("{} {} memories", out.style.green("imported"), report.new_count()));
            out.say("next: `heirloom recall \"a question\"` shows what an agent would be given");
        } else if wanted {
            out.say("nothing was imported");
        } else if !call.dry_run {
            out.say("nothing new; everything that can be taken is here");
        }
    });
    Ok(if wanted && !go { exit::REFUSED } else { exit::OK })
}

fn print(out: &Out, report: &Imported) {
    let shown = |text: &str| visible(&one_line(text));
    if report.dry_run {
        out.say("nothing was stored; this is what would happen:");
    }
    if report.shelves.is_empty() {
        out.line(format!("nothing to import in {} files", report.files));
    } else {
        let mut table = Table::new(&["SHELF", "NEW", "KNOWN", "WAITING", "LEFT OUT"]);
        for shelf in &report.shelves {
            table.row(vec![
                shelf.shelf.name().to_owned(),
                shelf.new.len().to_string(),
                shelf.known.to_string(),
                shelf.waiting.to_string(),
                shelf.left_out.to_string(),
            ]);
        }
        table.print(out);
    }
    for refused in report.refused.iter().take(LISTED) {
        out.line(format!(
            "{} {}: {} [{}]",
            out.style.red("refused"),
            shown(&refused.from),
            shown(&refused.message),
            refused.code
        ));
        out.line(format!("  {}", out.style.dim(&shown(&refused.next))));
    }
    let more = report.refused.len().saturating_sub(LISTED);
    if more > 0 {
        out.line(format!("{} {more} more; --json lists them all", out.style.red("refused")));
    }
    report.notes.iter().for_each(|note| out.note(shown(note)));
    if !report.not_recognised.is_empty() {
        let some: Vec<String> = report.not_recognised.iter().take(3).map(|file| shown(file)).collect();
        let end = if report.not_recognised.len() > some.len() { ", …" } else { "" };
        out.note(format!(
            "{} files are nothing Heirloom knows: {}{end}",
            report.not_recognised.len(),
            some.join(", ")
        ));
    }
    if !report.dry_run && report.shelves.iter().any(|shelf| shelf.waiting > 0) {
        out.say("next: `heirloom review` shows what waits for your yes");
    }
}
