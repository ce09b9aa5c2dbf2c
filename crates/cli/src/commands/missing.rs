//! Fields that a new record lacks, asked for at a terminal.
//!
//! Comes in: what the verb says is missing. Goes out: what was typed, field by field. Without a person nothing is asked, and the verb refuses
//! with the names and their flags. Never here: an answer that nobody gave.

use crate::person;
use heirloom_core::fault::Result;
use heirloom_engine::verbs::add::Missing;

/// Most items of one list.
const ITEMS: usize = 100;

/// Asks for each field. A list takes one item at a time; an empty answer ends it.
pub(super) fn asked(missing: &[Missing]) -> Result<Vec<(String, String)>> {
    let mut given = Vec::new();
    if !person::is_present() {
        return Ok(given);
    }
    for field in missing {
        let what = match (field.choices.is_empty(), field.help.as_str()) {
            (false, help) => format!("{} ({help}: {})", field.name, field.choices.join(", ")),
            (true, "") => field.name.clone(),
            (true, help) => format!("{} ({help})", field.name),
        };
        let mut answer = person::ask(&format!("{what}:"), &what)?;
        let mut items = 0;
        while !answer.is_empty() && items < ITEMS {
            given.push((field.name.clone(), answer));
            items += 1;
            if !field.list {
                break;
            }
            answer = person::ask(&format!("{} (Enter ends the list):", field.name), &what)?;
        }
    }
    Ok(given)
}
