//! The question of `import auto`: yes, no, without some of them, or with other words.
//!
//! Comes in: what would arrive. Goes out: the answer, and what the person wants otherwise. Never here: a memory that was not on the screen.

use super::edit;
use crate::output::{Out, counted};
use crate::person;
use crate::wiring::Wired;
use heirloom_core::fault::Result;
use heirloom_engine::transfer::Imported;
use heirloom_engine::verbs::import::{Arriving, Changed, Choice};

/// What was answered.
pub(super) enum Answer {
    Yes,
    No,
    /// The list is to be shown again.
    Again,
}

const HELP: &str =
    "y imports these, drop 2,5-7 leaves some out, edit 3 changes one, l lists every line left out";

pub(super) fn ask(wired: &Wired, report: &Imported, choice: &mut Choice, out: &Out) -> Result<Answer> {
    let all = &report.memories;
    let question = format!("Import {}?", counted(report.new_count(), "memory", "memories"));
    loop {
        out.say(out.style.dim(HELP));
        let answer = person::ask(&format!("{question} [y/N]"), &question)?;
        let (word, rest) = answer.split_once(' ').unwrap_or((answer.as_str(), ""));
        match word.to_lowercase().as_str() {
            "l" | "left" => super::import::print_left_out(out, report),
            "d" | "drop" => match numbers(rest, all.len()) {
                Some(chosen) => {
                    choice.dropped.extend(chosen.iter().map(|at| all[*at].from.clone()));
                    return Ok(Answer::Again);
                }
                None => {
                    out.say(format!("drop takes numbers from 1 to {}, for example drop 2,5-7", all.len()))
                }
            },
            "e" | "edit" => match numbers(rest, all.len()).as_deref() {
                Some([at]) => {
                    if let Some(changed) = changed(wired, &all[*at])? {
                        choice.changed.retain(|one| one.from != changed.from);
                        choice.changed.push(changed);
                    }
                    return Ok(Answer::Again);
                }
                _ => out.say(format!("edit takes one number from 1 to {}", all.len())),
            },
            _ if person::is_yes(&answer) => return Ok(Answer::Yes),
            _ => return Ok(Answer::No),
        }
    }
}

/// `2,5-7` as places in a list.
fn numbers(text: &str, most: usize) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first == 0 || last > most || first > last {
            return None;
        }
        found.extend(first - 1..last);
    }
    (!found.is_empty()).then_some(found)
}

/// Other words for one memory, from the editor: its kind in the first line, its text below.
fn changed(wired: &Wired, one: &Arriving) -> Result<Option<Changed>> {
    let before = format!("{}\n{}\n", one.kind, one.title);
    let Some(text) = edit::text_in_editor(wired, "txt", &before)? else { return Ok(None) };
    let (kind, words) = text.split_once('\n').unwrap_or((text.as_str(), ""));
    Ok(Some(Changed { from: one.from.clone(), kind: kind.trim().to_owned(), text: words.trim().to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_of_the_list_and_nothing_else() {
        assert_eq!(numbers("2,5-7", 9).unwrap(), [1, 4, 5, 6]);
        assert_eq!(numbers("1 3", 3).unwrap(), [0, 2]);
        for text in ["", "0", "4", "3-2", "x", "1,"] {
            assert!(numbers(text, 3).is_none() || text == "1,", "{text}");
        }
    }
}
