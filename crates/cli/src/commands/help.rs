//! `help`: the front page, every command in a line, one command, or a topic.
//!
//! Comes in: a word or none. Goes out: a page. Never here: what a command takes, which clap prints from its doc comments.

use super::glossary::GLOSSARY;
use crate::args::{Args, FOR_PROGRAMS, FRONT, GROUPS, Help};
use crate::output::Out;
use clap::CommandFactory as _;
use heirloom_core::code::exit;
use heirloom_core::kind::{OTHER_KINDS, RECORD_KINDS};
use heirloom_core::{Code, Fault, fault::Result};

/// Topics and their pages.
const TOPICS: &[(&str, &str)] = &[
    ("concepts", include_str!("help/concepts.txt")),
    ("names", include_str!("help/names.txt")),
    ("recall", include_str!("help/recall.txt")),
    ("agents", include_str!("help/agents.txt")),
    ("files", include_str!("help/files.txt")),
    ("scripts", include_str!("help/scripts.txt")),
    ("options", include_str!("help/options.txt")),
];

/// Topics that are made from tables.
const MADE: [&str; 3] = ["commands", "kinds", "glossary"];

/// Columns of every page.
const WIDTH: usize = 80;

pub(crate) fn run(call: &Help, out: &Out) -> Result<u8> {
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    let page = match words[..] {
        [] => FRONT.to_owned(),
        ["commands"] => commands(),
        ["kinds"] => kinds(),
        ["glossary"] => glossary(),
        [topic] if page_of(topic).is_some() && !is_command(topic) => {
            page_of(topic).unwrap_or_default().to_owned()
        }
        _ => return of_command(&words, out),
    };
    out.page(page.trim_end());
    Ok(exit::OK)
}

fn page_of(topic: &str) -> Option<&'static str> {
    TOPICS.iter().find(|(name, _)| *name == topic).map(|(_, page)| *page)
}

fn is_command(word: &str) -> bool {
    Args::command().find_subcommand(word).is_some()
}

/// The help of a command, and of a topic of the same name below it.
fn of_command(words: &[&str], out: &Out) -> Result<u8> {
    let mut root = Args::command();
    root.build();
    let mut command = &mut root;
    for (at, word) in words.iter().enumerate() {
        let Some(found) = command.find_subcommand_mut(word) else {
            let typed = words[..=at].join(" ");
            let topics: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).chain(MADE).collect();
            return Err(Fault::new(Code::NotFound, format!("there is no help about `{typed}`")).hint(
                format!("topics: {}; `heirloom help commands` lists every command", topics.join(", ")),
            ));
        };
        command = found;
    }
    let mut page = command.render_long_help().to_string();
    if let Some(topic) = words.first().filter(|_| words.len() == 1).and_then(|word| page_of(word)) {
        page = format!("{}\n\n{topic}", page.trim_end());
    }
    out.page(page.trim_end());
    Ok(exit::OK)
}

/// Every command in a line, group by group.
fn commands() -> String {
    let root = Args::command();
    let of = |name: &str| {
        let command = root.find_subcommand(name).filter(|one| !one.is_hide_set())?;
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let aliases: Vec<&str> = command.get_visible_aliases().collect();
        let also = if aliases.is_empty() { String::new() } else { format!(" (also {})", aliases.join(", ")) };
        Some(entry(name, 13, &format!("{about}{also}")))
    };
    let mut page = String::new();
    for group in GROUPS {
        page.push_str(group.title);
        page.push('\n');
        group.commands.iter().filter_map(|name| of(name)).for_each(|line| page.push_str(&line));
        page.push('\n');
    }
    page.push_str(&filled("", 0, FOR_PROGRAMS));
    page
}

fn kinds() -> String {
    let mut page = "Kinds of memories, for `heirloom add KIND \"a sentence\"`\n".to_owned();
    for row in RECORD_KINDS.iter().chain(OTHER_KINDS.iter()) {
        page.push_str(&entry(row.name, 17, row.help));
    }
    page.push_str(&filled(
        "\n",
        0,
        "`heirloom config category add NAME` adds a kind of your own. `heirloom add KIND --help` explains the options.",
    ));
    page
}

fn glossary() -> String {
    let mut page = "Words Heirloom uses\n".to_owned();
    GLOSSARY.iter().for_each(|(word, meaning)| page.push_str(&entry(word, 11, meaning)));
    page
}

/// A name and what it means, in lines of a page.
fn entry(name: &str, room: usize, text: &str) -> String {
    filled(&format!("  {name:room$}"), room + 2, text)
}

/// A text below `first`, its later lines moved in.
fn filled(first: &str, inset: usize, text: &str) -> String {
    let mut page = first.to_owned();
    let mut used = first.chars().rev().take_while(|c| *c != '\n').count();
    let mut begun = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !begun && used + 1 + length > WIDTH {
            page.push('\n');
            page.push_str(&" ".repeat(inset));
            used = inset;
            begun = true;
        }
        if !begun {
            page.push(' ');
            used += 1;
        }
        page.push_str(word);
        used += length;
        begun = false;
    }
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_fits_eighty_columns() {
        let made = [commands(), kinds(), glossary()];
        for page in TOPICS.iter().map(|(_, page)| *page).chain(made.iter().map(String::as_str)) {
            for line in page.lines() {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
    }

    #[test]
    fn every_command_people_use_is_listed() {
        let page = commands();
        for one in Args::command().get_subcommands().filter(|one| !one.is_hide_set()) {
            assert!(page.contains(&format!("\n  {} ", one.get_name())), "{}", one.get_name());
        }
    }
}
