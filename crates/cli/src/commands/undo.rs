//! `undo`: a change taken back.

use crate::args::{Args, Undo};
use crate::output::{Out, Table};
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::{Code, Fault};
use heirloom_engine::verbs::undo::{self, Undone};

pub(crate) fn run(args: &Args, call: &Undo, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    if call.list {
        let all = undo::list(&wired.call)?;
        out.answer(&all, || {
            if all.is_empty() {
                out.say("there is nothing to undo");
                return;
            }
            let mut table = Table::new(&["NUMBER", "WHEN", "WHAT", "BY", "IDS"]);
            for change in &all {
                let mut what = change.actions.join(" ");
                if let Some(of) = &change.undoes {
                    what = format!("{what} (undoes {of})");
                }
                if change.undone {
                    what = format!("{what} (undone)");
                }
                let ids = change.ids.join(" ");
                table.row(vec![change.number.clone(), change.at.clone(), what, change.by.clone(), ids]);
            }
            table.print(out);
        });
        return Ok(exit::OK);
    }
    let ask = undo::Undo { number: call.number.clone(), dry_run: call.dry_run };
    let undone = undo::undo(&wired.call, &ask)?;
    out.answer(&undone, || print(out, &undone));
    match undone.status {
        "changed_since" if out.is_json() => Ok(exit::REFUSED),
        "changed_since" => {
            let message = format!("`{}` was not undone: a memory changed since", undone.number);
            Err(Fault::new(Code::OccConflict, message)
                .fact("number", undone.number)
                .hint("`heirloom undo --list` shows later changes; undo those first"))
        }
        _ => Ok(exit::OK),
    }
}

fn print(out: &Out, undone: &Undone) {
    for step in &undone.memories {
        let word = match undone.status {
            "undone" => out.style.green(&step.does.replace('_', " ")),
            _ if step.changed_since => out.style.yellow("changed since"),
            _ => format!("would {}", step.does.replace('_', " ")),
        };
        out.line(format!("{word} {}", out.style.bold(&step.id)));
        if undone.status != "undone" {
            step.diff.iter().for_each(|line| out.line(format!("  {line}")));
        }
    }
    if let Some(number) = &undone.undo {
        out.note(format!("`heirloom undo {number}` undoes this"));
    }
}
