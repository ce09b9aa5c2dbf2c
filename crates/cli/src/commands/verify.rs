//! `gc`, `verify`: what is past its time, and what is wrong.

use super::record::print_collected;
use super::show::visible;
use crate::args::{Args, Gc, Verify};
use crate::output::Out;
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{ShelfName, fault::Result};
use heirloom_engine::shelf::Problem;
use serde_json::json;

pub(crate) fn gc(args: &Args, call: &Gc, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let records = wired.call.records();
    let collected = records.collect(call.dry_run)?;
    if !call.dry_run {
        records.rebuild(&wired.call.project().lock()?)?;
    }
    out.answer(&collected, || {
        if call.dry_run {
            out.say("nothing was touched; this is what would be done:");
        }
        print_collected(out, &collected);
    });
    super::auto_commit(&wired, out, "memory: gc");
    Ok(exit::OK)
}

pub(crate) fn verify(args: &Args, call: &Verify, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let root = wired.call.project().root().folder();
    if !root.is_dir() {
        return Err(heirloom_engine::project::no_memory(root));
    }
    if call.fix {
        let (count, _) = wired.call.records().rebuild(&wired.call.project().lock()?)?;
        out.say(format!("index.md made anew with {count} entries"));
        for line in wired.call.topics().repair()? {
            out.say(visible(&one_line(&line)));
        }
    }
    let mut problems: Vec<Problem> = wired
        .warnings()
        .iter()
        .map(|warning| Problem {
            file: wiring::PROJECT_SETTINGS.to_owned(),
            line: None,
            code: heirloom_core::Code::Config.name(),
            message: format!("{} ({}): {}", warning.name, warning.origin.name(), warning.message),
            fix: "`heirloom config list` shows names and values".to_owned(),
        })
        .collect();
    for shelf in wired.call.shelves() {
        match shelf.verify() {
            // A database that cannot be reached is a problem of its own, and the files are still looked at.
            Err(fault) if shelf.name() == ShelfName::Tiers => problems.push(Problem {
                file: "tiers".to_owned(),
                line: None,
                code: fault.code.name(),
                fix: fault.next_step().to_owned(),
                message: fault.message,
            }),
            found => problems.extend(found?),
        }
    }
    out.answer(&json!({ "ok": problems.is_empty(), "problems": problems }), || {
        if problems.is_empty() {
            out.line(out.style.green("everything fits"));
        }
        for problem in &problems {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            out.line(format!(
                "{}{line}: {} [{}]",
                out.style.bold(&visible(&one_line(&problem.file))),
                visible(&one_line(&problem.message)),
                problem.code
            ));
            out.line(format!("  {}", out.style.dim(&visible(&one_line(&problem.fix)))));
        }
    });
    Ok(if problems.is_empty() { exit::OK } else { exit::REFUSED })
}
