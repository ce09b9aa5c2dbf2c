//! `import`: memories from elsewhere, named or found, or an archive of turns and facts.

use super::visible;
use crate::args::{Args, Import};
use crate::output::{Meter, Out, Table};
use crate::wiring::Wired;
use crate::{environment, person, wiring};
use heirloom_agents::table::{CLAUDE_CODE, CODEX};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::tiers::Brought;
use heirloom_engine::transfer::{Homes, Imported};
use heirloom_engine::verbs::archive::{self, ReadArchive};
use heirloom_engine::verbs::import::{self, FoundImport, ImportFound};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Refusals and files that are listed; the rest is counted, and `--json` has them all.
const LISTED: usize = 20;

pub(crate) fn run(args: &Args, call: &Import, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    if call.is_auto() {
        return auto(&wired, call, out);
    }
    let paths: Vec<PathBuf> = call.paths.iter().map(|path| wired.cwd.join(path)).collect();
    let piped = call.paths.iter().any(|path| path.as_os_str() == "-");
    let archive = match piped {
        true if paths.len() > 1 => {
            return Err(Fault::new(Code::Usage, "an archive of turns and facts goes alone")
                .hint("import it by itself, and the other files after it"));
        }
        true => Some(Path::new("-")),
        false => archive::among(&paths)?,
    };
    if let Some(archive) = archive {
        return turns_and_facts(&mut wired, call, archive, out);
    }
    if call.all_users || call.even_removed || call.vouch {
        return Err(Fault::new(
            Code::Usage,
            "--all-users, --even-removed and --vouch are for archives of turns and facts",
        )
        .hint("`heirloom export --shelf tiers --to FILE` makes one"));
    }
    let mut meter = Meter::new();
    let ask = import::Import { paths, dry_run: call.dry_run };
    let report = import::import(&wired.call, &ask, &mut |at| meter.show(at))?;
    drop(meter);
    out.answer(&report, || print(out, &report));
    Ok(if report.refused.is_empty() { exit::OK } else { exit::REFUSED })
}

/// Finds what there is, shows what would arrive, asks, imports.
fn auto(wired: &Wired, call: &Import, out: &Out) -> Result<u8> {
    let homes = Homes {
        claude_code: environment::agent_folder(&CLAUDE_CODE),
        codex: environment::agent_folder(&CODEX),
    };
    let brought = |dry_run| {
        let mut meter = Meter::new();
        import::import_found(&wired.call, &ImportFound { dry_run }, &homes, &mut |at| meter.show(at))
    };
    let mut answer = brought(true)?;
    if !out.is_json() {
        for origin in &answer.found {
            out.line(format!("found {}: {} files", out.style.bold(origin.what), origin.sources.len()));
        }
        if answer.found.is_empty() {
            out.say("no agent on this machine has anything about this project yet");
            return Ok(exit::OK);
        }
        print(out, &answer.report);
    }
    let new = answer.report.new_count();
    let waits = answer.report.shelves.iter().any(|shelf| shelf.waiting > 0);
    let wanted = !call.dry_run && (new > 0 || waits);
    let go = wanted && person::confirm(&format!("Import {new} memories?"), call.yes)?;
    if go {
        answer = brought(false)?;
    }
    let FoundImport { report, .. } = &answer;
    out.answer(&answer, || {
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

fn turns_and_facts(wired: &mut Wired, call: &Import, path: &Path, out: &Out) -> Result<u8> {
    let ask = ReadArchive {
        dry_run: call.dry_run,
        all_users: call.all_users,
        even_removed: call.even_removed,
        vouch: call.vouch,
    };
    for verb in archive::weighs(&ask) {
        person::checked(wired, verb)?;
    }
    wired.tiers()?;
    let mut from: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin().lock()))
    } else {
        let cannot = |e| Fault::new(Code::Input, format!("`{}` cannot be read: {e}", path.display()));
        Box::new(BufReader::new(std::fs::File::open(path).map_err(cannot)?))
    };
    let mut meter = Meter::new();
    let brought = archive::read(&wired.call, &ask, &mut from, &mut |at| meter.show(at))?;
    drop(meter);
    out.answer(&brought, || print_brought(out, call.dry_run, &brought));
    Ok(exit::OK)
}

fn print_brought(out: &Out, dry_run: bool, brought: &Brought) {
    let word = if dry_run { "would add" } else { "added" };
    out.line(format!(
        "{} {} memories, {} were there already",
        out.style.green(word),
        brought.added,
        brought.known
    ));
    if brought.removed > 0 {
        out.note(format!(
            "{} were removed here and stay so (--even-removed brings them back)",
            brought.removed
        ));
    }
    if brought.expired > 0 {
        out.note(format!("{} are past their time", brought.expired));
    }
    if brought.waiting > 0 {
        out.note(format!("{} facts wait in `heirloom review`", brought.waiting));
    }
    for (code, count) in &brought.refused {
        out.note(format!("{count} were refused ({code})"));
    }
    if brought.unsealed_chunks > 0 {
        out.note(
            "the archive was not made here, so its memories count as an agent's words (--vouch believes what it says)",
        );
    }
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
