//! A command line that cannot be read, as an error like every other.
//!
//! Comes in: what clap refused. Goes out: what is wrong, with the names of what is missing or not known, and the next step. Never here: a word of what was
//! typed that the printer does not look over for secrets.

use super::{Args, meant};
use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use heirloom_core::{Code, Fault};

/// The error. `words` is the command line without the program's name.
pub(crate) fn told(wrong: &clap::Error, words: &[String]) -> Fault {
    let command = command_of(words);
    let text = |kind| match wrong.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(all)) => Some(all.join(", ")),
        _ => None,
    };
    let all = |kind| match wrong.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(all)) => all.clone(),
        _ => Vec::new(),
    };
    let arg = text(ContextKind::InvalidArg).unwrap_or_default();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let of = if command.is_empty() { "heirloom".to_owned() } else { format!("heirloom {command}") };
    let explained = match command.is_empty() {
        true => "`heirloom help` shows how to begin".to_owned(),
        false => format!("`heirloom help {command}` shows how it is called"),
    };
    let fault = |message: String| Fault::new(Code::Usage, message);
    match wrong.kind() {
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            unknown_command(&typed, &command)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing: Vec<String> = all(ContextKind::InvalidArg);
            let named: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            let fault = fault(format!("`{of}` needs {}", named.join(" and ")));
            missing.into_iter().fold(fault, |fault, name| fault.fact("missing", name)).hint(explained)
        }
        ErrorKind::UnknownArgument => {
            let hint = match text(ContextKind::SuggestedArg) {
                Some(near) => format!("did you mean `{near}`? {explained}"),
                None if !arg.starts_with('-') => {
                    format!("put a text of several words in quotes; {explained}")
                }
                None => explained,
            };
            let what = if arg.starts_with('-') { "has no option" } else { "does not take" };
            fault(format!("`{of}` {what} `{arg}`")).fact("argument", arg).hint(hint)
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            let hint = match all(ContextKind::ValidValue) {
                valid if valid.is_empty() => format!("write it as `{arg}`; {explained}"),
                valid => format!("use one of {}", valid.join(", ")),
            };
            fault(format!("`{}` needs a value", name_of(&arg))).fact("missing", arg).hint(hint)
        }
        ErrorKind::InvalidValue => {
            let valid = all(ContextKind::ValidValue);
            let near = text(ContextKind::SuggestedValue).map(|near| format!("did you mean `{near}`? "));
            let hint = format!("{}use one of {}", near.unwrap_or_default(), valid.join(", "));
            fault(format!("`{}` cannot be `{value}`", name_of(&arg))).fact("argument", arg).hint(hint)
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(wrong).map(ToString::to_string);
            let hint = why.unwrap_or(explained);
            fault(format!("`{}` cannot be `{value}`", name_of(&arg))).fact("argument", arg).hint(hint)
        }
        ErrorKind::ArgumentConflict => {
            let others = all(ContextKind::PriorArg);
            match others.contains(&arg) || others.is_empty() {
                true => fault(format!("`{}` can be given once", name_of(&arg))).hint(explained),
                false => {
                    let others: Vec<String> =
                        others.iter().map(|other| format!("`{}`", name_of(other))).collect();
                    fault(format!("`{}` and {} exclude each other", name_of(&arg), others.join(", ")))
                        .hint(format!("leave one of them out; {explained}"))
                }
            }
        }
        ErrorKind::MissingSubcommand => {
            let names = all(ContextKind::ValidSubcommand);
            fault(format!("`{of}` needs a word that says what to do"))
                .hint(format!("use one of {}", names.join(", ")))
        }
        _ => {
            let text = wrong.to_string();
            let first = text.lines().next().unwrap_or_default();
            fault(first.strip_prefix("error: ").unwrap_or(first).to_owned()).hint(explained)
        }
    }
}

/// `--set <KEY=VALUE>` is called `--set`.
fn name_of(arg: &str) -> &str {
    if arg.starts_with('-') { arg.split(' ').next().unwrap_or(arg) } else { arg }
}

fn unknown_command(typed: &str, below: &str) -> Fault {
    let root = Args::command();
    let mut command = &root;
    for word in below.split_whitespace() {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
    let names: Vec<&str> = visible.map(clap::Command::get_name).collect();
    let spelled: Vec<&str> = command
        .get_subcommands()
        .filter(|one| !one.is_hide_set())
        .flat_map(|one| std::iter::once(one.get_name()).chain(one.get_all_aliases()))
        .collect();
    let before = if below.is_empty() { String::new() } else { format!("{below} ") };
    let meant = below.is_empty().then(|| meant::by_meaning(typed, &names)).flatten();
    let hint = match meant.or_else(|| meant::by_spelling(typed, &spelled)) {
        Some(near) => format!("did you mean `heirloom {before}{near}`?"),
        None if below.is_empty() => "`heirloom help commands` lists every command".to_owned(),
        None => format!("use one of {}", names.join(", ")),
    };
    Fault::new(Code::Usage, format!("there is no command `{before}{typed}`"))
        .fact("command", typed)
        .hint(hint)
}

/// The command that was called, as far as it is known: `review accept`.
fn command_of(words: &[String]) -> String {
    let root = Args::command();
    let (mut command, mut path) = (&root, Vec::new());
    for word in words {
        if word.starts_with('-') {
            continue;
        }
        match command.find_subcommand(word) {
            Some(found) => {
                path.push(found.get_name());
                command = found;
            }
            // A value of an option of every command may stand before the command.
            None if path.is_empty() => {}
            None => break,
        }
    }
    path.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn of(words: &[&str]) -> Fault {
        let wrong = Args::try_parse_from(std::iter::once(&"heirloom").chain(words)).unwrap_err();
        told(&wrong, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn an_error_names_what_is_missing_or_wrong_and_the_next_step() {
        for (words, message, hint) in [
            (&["add"][..], "`heirloom add` needs `<KIND>`", "`heirloom help add` shows how it is called"),
            (
                &["review", "accept"],
                "`heirloom review accept` needs `<KEYS>...`",
                "`heirloom help review accept` shows how it is called",
            ),
            (&["remove"], "there is no command `remove`", "did you mean `heirloom retire`?"),
            (&["lst"], "there is no command `lst`", "did you mean `heirloom list`?"),
            (&["xyzzy"], "there is no command `xyzzy`", "`heirloom help commands` lists every command"),
            (
                &["review", "acept"],
                "there is no command `review acept`",
                "did you mean `heirloom review accept`?",
            ),
            (
                &["add", "decision", "x", "--confidence", "7"],
                "`--confidence` cannot be `7`",
                "use a number from 0 to 1, such as 0.8",
            ),
            (
                &["list", "--set"],
                "`--set` needs a value",
                "write it as `--set <KEY=VALUE>`; `heirloom help list` shows how it is called",
            ),
            (
                &["list", "--kidn", "x"],
                "`heirloom list` has no option `--kidn`",
                "did you mean `--kind`? `heirloom help list` shows how it is called",
            ),
            (
                &["status", "now"],
                "`heirloom status` does not take `now`",
                "put a text of several words in quotes; `heirloom help status` shows how it is called",
            ),
            (
                &["list", "--retired", "--all"],
                "`--retired` and `--all` exclude each other",
                "leave one of them out; `heirloom help list` shows how it is called",
            ),
            (
                &["clear", "semantc"],
                "`<TIER>` cannot be `semantc`",
                "did you mean `semantic`? use one of episodic, semantic, all",
            ),
        ] {
            let fault = of(words);
            assert_eq!((fault.message.as_str(), fault.next_step()), (message, hint), "{words:?}");
        }
        assert_eq!(of(&["add"]).get("missing"), Some("<KIND>"));
    }
}
