//! `import`: memories from elsewhere, named or found, or an archive of turns and facts or of files.

use super::import_ask;
use super::visible;
use crate::args::{Args, Import};
use crate::output::{Meter, Out, Table, counted};
use crate::wiring::Wired;
use crate::{environment, person, wiring};
use heirloom_agents::table::{CLAUDE_CODE, CODEX};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::shelf::tiers::Brought;
use heirloom_engine::transfer::{Homes, Imported};
use heirloom_engine::verbs::archive::{self, BEGINNING, Carries, ReadArchive, carries};
use heirloom_engine::verbs::import::{self, Choice, FoundImport, ImportFound};
use std::io::{BufRead, BufReader, Read as _};
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
    if piped && paths.len() > 1 {
        return Err(Fault::new(Code::Usage, "an archive must be imported alone")
            .hint("import it by itself, and the other files after it"));
    }
    let mut stdin = piped.then(|| BufReader::new(std::io::stdin().lock()));
    let mut beginning = Vec::new();
    let archive = match &mut stdin {
        Some(stdin) => {
            let read = stdin.take(BEGINNING as u64).read_to_end(&mut beginning);
            read.map_err(|e| Fault::new(Code::Input, format!("standard input cannot be read: {e}")))?;
            Some(carries(&beginning).unwrap_or(Carries::Turns))
        }
        None => archive::among(&paths)?.map(|(_, carries)| carries),
    };
    let from = || -> Result<Box<dyn BufRead>> {
        Ok(match stdin {
            Some(stdin) => Box::new(std::io::Cursor::new(beginning).chain(stdin)),
            None => {
                let path = paths.first().map_or(Path::new(""), PathBuf::as_path);
                let cannot = |e| Fault::new(Code::Input, format!("`{}` cannot be read: {e}", path.display()));
                Box::new(BufReader::new(std::fs::File::open(path).map_err(cannot)?))
            }
        })
    };
    if archive == Some(Carries::Turns) {
        return turns_and_facts(&mut wired, call, from, out);
    }
    if call.all_users || call.even_removed || call.vouch {
        return Err(Fault::new(
            Code::Usage,
            "--all-users, --even-removed and --vouch are for archives of turns and facts",
        )
        .hint("`heirloom export --shelf tiers --to FILE` makes one"));
    }
    let mut meter = Meter::new();
    let report = match archive {
        Some(_) => import::import_stream(&wired.call, call.dry_run, &mut from()?, &mut |at| meter.show(at))?,
        None => {
            let ask = import::Import { paths, dry_run: call.dry_run };
            import::import(&wired.call, &ask, &mut |at| meter.show(at))?
        }
    };
    drop(meter);
    out.answer(&report, || {
        print(out, &report);
        if call.left_out {
            print_left_out(out, &report);
        } else if !report.left_out.is_empty() {
            out.say(format!(
                "left out {} (--left-out shows each with the reason)",
                counted(report.left_out.len(), "line", "lines")
            ));
        }
    });
    Ok(if report.refused.is_empty() { exit::OK } else { exit::REFUSED })
}

/// Finds what there is, shows what would arrive, asks, imports.
fn auto(wired: &Wired, call: &Import, out: &Out) -> Result<u8> {
    let homes = Homes {
        claude_code: environment::agent_folder(&CLAUDE_CODE),
        codex: environment::agent_folder(&CODEX),
    };
    let brought = |dry_run, choice: &Choice| {
        let mut meter = Meter::new();
        let ask = ImportFound { dry_run, choice: choice.clone() };
        import::import_found(&wired.call, &ask, &homes, &mut |at| meter.show(at))
    };
    let mut choice = Choice::default();
    let mut answer = brought(true, &choice)?;
    // A program reads the answer; what the person looks at goes beside it.
    let aside = out.aside();
    let spoken = !out.is_json() || !(call.yes || call.dry_run);
    if answer.found.is_empty() && !out.is_json() {
        out.say("no instructions for agents, decisions or agents' memories were found for this project");
        return Ok(exit::OK);
    }
    if spoken {
        for origin in &answer.found {
            let files = if origin.sources.len() == 1 { "file" } else { "files" };
            aside.line(format!("found {}: {} {files}", aside.style.bold(origin.what), origin.sources.len()));
        }
    }
    let mut go = false;
    let mut wanted;
    loop {
        let report = &answer.report;
        let waits = report.shelves.iter().any(|shelf| shelf.waiting > 0);
        wanted = !call.dry_run && (report.new_count() > 0 || waits);
        if spoken {
            print_preview(&aside, report, call.left_out);
        }
        if !wanted || call.yes {
            go = wanted;
            break;
        }
        match import_ask::ask(wired, report, &mut choice, &aside)? {
            import_ask::Answer::Yes => go = true,
            import_ask::Answer::No => {}
            import_ask::Answer::Again => {
                answer = brought(true, &choice)?;
                continue;
            }
        }
        break;
    }
    if go {
        answer = brought(false, &choice)?;
    }
    let FoundImport { report, .. } = &answer;
    out.answer(&answer, || {
        if go {
            let many = counted(report.new_count(), "memory", "memories");
            out.line(format!("{} {many}", out.style.green("imported")));
            let waiting: usize = report.shelves.iter().map(|shelf| shelf.waiting).sum();
            if waiting > 0 {
                out.say(format!("{waiting} wait for your yes in `heirloom review`"));
            }
            out.say("next: `heirloom recall \"a question\"` shows what an agent would get");
        } else if wanted {
            out.say("nothing was imported");
        } else if !call.dry_run {
            out.say("nothing new to import");
        }
    });
    Ok(if wanted && !go { exit::REFUSED } else { exit::OK })
}

/// Each memory that would be saved, and what would not.
fn print_preview(out: &Out, report: &Imported, every_line: bool) {
    if report.memories.is_empty() {
        print(out, report);
    } else {
        let mut table = Table::new(&["#", "KIND", "TITLE", "FROM"]);
        for (at, one) in report.memories.iter().enumerate() {
            table.row(vec![(at + 1).to_string(), one.kind.clone(), one.title.clone(), one.from.clone()]);
        }
        table.print(out);
        let known: usize = report.shelves.iter().map(|shelf| shelf.known).sum();
        if known > 0 {
            out.say(format!("{} already", counted(known, "exists", "exist")));
        }
        print_refused(out, report);
        print_rest(out, report);
    }
    if every_line {
        print_left_out(out, report);
    } else if !report.left_out.is_empty() {
        let mut why: Vec<(usize, &str)> = Vec::new();
        for left in &report.left_out {
            match why.iter_mut().find(|(_, reason)| *reason == left.why) {
                Some((count, _)) => *count += 1,
                None => why.push((1, &left.why)),
            }
        }
        why.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let lines = counted(report.left_out.len(), "line", "lines");
        out.say(format!("left out {lines} (--left-out shows each):"));
        why.iter().for_each(|(count, reason)| out.say(format!("  {count} {reason}")));
    }
}

/// Every line that nothing is made of.
pub(super) fn print_left_out(out: &Out, report: &Imported) {
    for left in &report.left_out {
        let line = format!("{}: {} ({})", left.from, left.text, left.why);
        out.line(out.style.dim(&out.fit(&visible(&one_line(&line)), 0)));
    }
}

fn turns_and_facts(
    wired: &mut Wired,
    call: &Import,
    from: impl FnOnce() -> Result<Box<dyn BufRead>>,
    out: &Out,
) -> Result<u8> {
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
    let mut from = from()?;
    let mut meter = Meter::new();
    let brought = archive::read(&wired.call, &ask, &mut from, &mut |at| meter.show(at))?;
    drop(meter);
    out.answer(&brought, || print_brought(out, call.dry_run, &brought));
    Ok(exit::OK)
}

fn print_brought(out: &Out, dry_run: bool, brought: &Brought) {
    let word = if dry_run { "would add" } else { "added" };
    out.line(format!(
        "{} {}, {} existed already",
        out.style.green(word),
        counted(brought.added, "memory", "memories"),
        brought.known
    ));
    if brought.removed > 0 {
        out.note(format!(
            "{} were removed here before and stay removed (--even-removed brings them back)",
            brought.removed
        ));
    }
    if brought.expired > 0 {
        out.note(format!("{} have expired", brought.expired));
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
    if report.dry_run {
        out.say("this is what would happen; nothing was saved:");
    }
    if report.shelves.is_empty() {
        out.line(format!("nothing to import in {}", counted(report.files, "file", "files")));
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
    print_refused(out, report);
    print_rest(out, report);
}

fn print_refused(out: &Out, report: &Imported) {
    let shown = |text: &str| visible(&one_line(text));
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
}

fn print_rest(out: &Out, report: &Imported) {
    let shown = |text: &str| visible(&one_line(text));
    report.notes.iter().for_each(|note| out.note(shown(note)));
    if !report.not_recognised.is_empty() {
        let some: Vec<String> = report.not_recognised.iter().take(3).map(|file| shown(file)).collect();
        let end = if report.not_recognised.len() > some.len() { ", …" } else { "" };
        out.note(format!(
            "Heirloom cannot read {}: {}{end}",
            counted(report.not_recognised.len(), "file", "files"),
            some.join(", ")
        ));
    }
    if !report.dry_run && report.shelves.iter().any(|shelf| shelf.waiting > 0) {
        out.say("next: `heirloom review` shows what waits for your yes");
    }
}
