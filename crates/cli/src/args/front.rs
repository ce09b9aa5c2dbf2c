//! The page that `heirloom` alone prints, and the groups that commands are listed in.
//!
//! Comes in: nothing. Goes out: one short page and one table. Never here: what a command does, which its own doc comment says.

/// What `heirloom`, `heirloom --help` and `heirloom help` print. At most 25 lines of 80 columns; the first steps work as they are printed.
pub(crate) const FRONT: &str = "\
Heirloom: memory for AI agents that people can read, trust and version.

Usage: heirloom COMMAND [ARGUMENTS]

  Start        init  setup  import  demo
  Everyday     add  remember  search  show  list  edit  recall  undo
  Look after   status  review  trust  retire  restore  forget  verify  doctor
  Agents       last  why  brief  snapshot  mcp
  Teams        user  sync  serve  audit
  Advanced     config  model  scan  anchor  convert  export  gc  ...

First steps, in the folder of a project:
  heirloom init
  heirloom add decision \"Use PostgreSQL because we need jsonb\"
  heirloom recall \"which database?\"
  heirloom setup

The last one connects your coding agents. `heirloom demo` shows everything once.

  heirloom help commands    every command, in a line each
  heirloom help COMMAND     one command
  heirloom help concepts    memories, shelves, trust and review in plain words
  heirloom help options     options of every command: --json, -C, --set, ...";

/// A group of commands: its title, and their names in the order they are needed.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) commands: &'static [&'static str],
}

const fn group(title: &'static str, commands: &'static [&'static str]) -> Group {
    Group { title, commands }
}

/// Every command that people use. One that stands nowhere here is listed with the last group.
pub(crate) const GROUPS: &[Group] = &[
    group("Start", &["init", "setup", "import", "demo"]),
    group("Everyday", &["add", "remember", "search", "show", "list", "edit", "recall", "undo", "open"]),
    group(
        "Look after",
        &[
            "status",
            "review",
            "trust",
            "retire",
            "restore",
            "archive",
            "unarchive",
            "history",
            "forget",
            "clear",
            "verify",
            "doctor",
        ],
    ),
    group("Agents", &["last", "why", "brief", "snapshot", "mcp"]),
    group("Teams", &["user", "team", "sync", "serve", "audit"]),
    group(
        "Advanced",
        &[
            "config",
            "model",
            "scan",
            "anchor",
            "convert",
            "export",
            "gc",
            "expire",
            "compact",
            "lesson",
            "note",
            "vault",
            "completions",
            "man",
        ],
    ),
];

/// Commands that programs call: they work as ever, and no list shows them but the reference.
pub(crate) const FOR_PROGRAMS: &str = "`hook`, `record` and `memory` are called by agents and scripts; \
    `heirloom help hook` and the reference explain them.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_front_page_is_short_and_names_only_commands_there_are() {
        assert!(FRONT.lines().count() <= 25, "{} lines", FRONT.lines().count());
        assert!(FRONT.lines().all(|line| line.chars().count() <= 80));
        let command = super::super::Args::command();
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        for group in GROUPS {
            let line = FRONT.lines().find(|line| line.trim_start().starts_with(group.title)).unwrap();
            let listed = line.trim_start()[group.title.len()..].split_whitespace().filter(|w| *w != "...");
            for name in listed {
                assert!(names.contains(&name), "`{name}` is no command");
                assert!(group.commands.contains(&name), "`{name}` stands in another group");
            }
        }
    }

    #[test]
    fn every_command_people_use_stands_in_one_group() {
        let command = super::super::Args::command();
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            let places = GROUPS.iter().filter(|group| group.commands.contains(&one.get_name())).count();
            assert_eq!(places, 1, "`{}` stands in {places} groups", one.get_name());
        }
    }
}
