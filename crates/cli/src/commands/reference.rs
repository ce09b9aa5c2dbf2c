//! `reference`: pages made from the tables in the program, so that no page can say what the program does not do.

use super::glossary::GLOSSARY;
use crate::args::{Args, PAGES, Reference};
use crate::environment::{AGENT_VARIABLES, VARIABLES};
use crate::output::Out;
use clap::CommandFactory as _;
use heirloom_core::ShelfName;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::kind::{OTHER_KINDS, RECORD_KINDS, Shape, Words};
use heirloom_core::settings::{Guard, KEYS, Type};
use heirloom_core::{Owner, authority, code, trust};
use heirloom_engine::gate::policy::Row;
use heirloom_engine::gate::scan::{Class, Level};
use std::fmt::Write as _;

pub(crate) fn run(call: &Reference, out: &Out) -> Result<u8> {
    let page = match call.page.as_deref() {
        None => PAGES.join("\n") + "\n",
        Some("commands") => commands(),
        Some("errors") => errors(),
        Some("settings") => settings(),
        Some("environment") => environment(),
        Some("kinds") => kinds(),
        Some("trust") => channels(),
        Some("authority") => who_may_do_what(),
        Some("glossary") => glossary(),
        Some(_) => gate(),
    };
    out.raw(page.as_bytes());
    Ok(exit::OK)
}

/// A Markdown page with a table.
fn table(title: &str, intro: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut page =
        format!("# {title}\n\n{intro}\n\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    page
}

fn errors() -> String {
    let intro = "Every door reports these names. Exit codes: 0 done, 1 refused or a problem found, 2 the call was wrong, 3 not found, \
                 4 waits for a person, 5 busy, try again, 6 the disk or system refused, 130 stopped with Ctrl-C.";
    let rows = code::TABLE.iter().map(|row| {
        vec![
            format!("`{}`", row.name),
            row.exit.to_string(),
            row.http.to_string(),
            row.meaning.to_owned(),
            row.hint.to_owned(),
        ]
    });
    table("Errors", intro, &["code", "exit", "HTTP", "meaning", "what to do"], rows)
}

fn settings() -> String {
    let intro = "Nearest wins: `--set`, `HEIRLOOM_SET_…`, `.claude/memory/memory-config.json` of the project, \
                 `$XDG_CONFIG_HOME/heirloom/config.json` of the user, the default. `*` is a record category. \
                 A bad or unknown key costs only itself; `heirloom config list` shows every value and where it comes from.";
    let rows = KEYS.iter().map(|key| {
        let who = match key.guard {
            Guard::Open => "anyone",
            Guard::Tighten(_) => "a project can only tighten it",
            Guard::UserFirst => "yours counts before the project's",
            Guard::UserOnly | Guard::OwnTighten(_) => "only you",
            Guard::NotProject => "not a project",
            Guard::Adds => "yours and the project's together",
            Guard::InsideProject => "a project only inside itself",
        };
        let default = if key.default.is_empty() { "–".to_owned() } else { format!("`{}`", key.default) };
        vec![format!("`{}`", key.name), type_name(key.ty), default, who.to_owned(), key.help.to_owned()]
    });
    table("Settings", intro, &["setting", "holds", "default", "who decides", "what it does"], rows)
}

fn type_name(ty: Type) -> String {
    match ty {
        Type::Switch => "true or false".to_owned(),
        Type::Whole { min, max } => format!("whole number, {min} to {max}"),
        Type::Share => "number, 0 to 1".to_owned(),
        Type::Text => "text".to_owned(),
        Type::Choice(words) => words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(" or "),
        Type::Folder => "folder name".to_owned(),
        Type::Path => "path".to_owned(),
        Type::Model => "`haiku`, `sonnet` or `opus`".to_owned(),
        Type::Fields => "list of fields".to_owned(),
        Type::Rules => "list of rules".to_owned(),
        Type::Name => "name".to_owned(),
        Type::Names => "list of names".to_owned(),
        Type::Address => "https address, or http to this machine".to_owned(),
    }
}

fn environment() -> String {
    let intro = "All variables that Heirloom reads.";
    let rows = VARIABLES.iter().map(|v| vec![format!("`{}`", v.name), v.meaning.to_owned()]);
    let mut page = table("Environment", intro, &["variable", "meaning"], rows);
    let names: Vec<String> = AGENT_VARIABLES.iter().map(|name| format!("`{name}`")).collect();
    let _ = write!(
        page,
        "\nWith one of these set, nobody counts as a person at a terminal: {}.\n",
        names.join(", ")
    );
    page
}

fn kinds() -> String {
    let intro = "Records are typed; the JSON Schemas of their kinds are in `schemas/`. The other shelves have formats of their own.";
    let shelves = OTHER_KINDS.iter().filter(|row| row.shelf != ShelfName::Tiers);
    let rows = RECORD_KINDS
        .iter()
        .chain(shelves)
        .map(|row| vec![format!("`{}`", row.name), row.shelf.name().to_owned(), row.help.to_owned()]);
    let mut page = table("Kinds", intro, &["kind", "shelf", "what it is"], rows);
    for row in &RECORD_KINDS {
        let _ = write!(
            page,
            "\n## {}\n\n{}. Folder `{}/`, label `{}`.\n\n",
            row.name, row.help, row.folder, row.label
        );
        page.push_str(
            "| field | holds | required | from a sentence | what to write |\n|---|---|---|---|---|\n",
        );
        for field in row.fields {
            let holds = match field.shape {
                Shape::Text => "text".to_owned(),
                Shape::Choice(words) => words.join(", "),
                Shape::Flag => "true or false".to_owned(),
                Shape::List { min: 0 } => "list of texts".to_owned(),
                Shape::List { min } => format!("list of texts, at least {min}"),
                Shape::Alternatives => "list of {option, rejected_reason}".to_owned(),
                Shape::Examples => "{prefer: […], avoid: […]}".to_owned(),
            };
            let required = if field.required { "yes" } else { "no" };
            let from = match (field.from, field.shape, field.required) {
                (Words::What, ..) => "what it says".to_owned(),
                (Words::Why, ..) => "what follows \"because\"".to_owned(),
                (_, Shape::List { min: 0 }, true) => "an empty list".to_owned(),
                (Words::Own, ..) => "must be said".to_owned(),
                (Words::Later, _, false) => "left out".to_owned(),
                (Words::Later, Shape::Choice(words), _) => format!("assumed: {}", words[0]),
                (Words::Later, Shape::Flag, _) => "assumed: true".to_owned(),
                (Words::Later, ..) => "left empty".to_owned(),
            };
            let _ = writeln!(page, "| `{}` | {holds} | {required} | {from} | {} |", field.name, field.help);
        }
    }
    page
}

fn who_may_do_what() -> String {
    let intro = "Every verb asks this table, whichever door was used. A person at a terminal may do everything with their own account; a token \
                 limits them in the tiers to its scopes. The columns in the middle say what becomes of an agent's request (any process without a \
                 person: hooks, scripts, MCP, HTTP), by whose text it would touch: one that nobody here vouched for, an agent's own, or one that a \
                 person wrote or accepted. A token needs the scope in the column `needs`; with the one in `lifted by` it does what an agent would \
                 wait for. `--yes` answers a question; it makes nobody a person.";
    let rows = authority::TABLE.iter().map(|row| {
        let of = |owner: Owner| row.agent[owner as usize].name().to_owned();
        vec![
            row.name.replace('_', " "),
            row.what.to_owned(),
            format!("`{}`", row.needs.name()),
            of(Owner::Nobody),
            of(Owner::Agent),
            of(Owner::Person),
            row.lifted_by.map_or("–".to_owned(), |grant| format!("`{}`", grant.name())),
        ]
    });
    let head = ["verb", "what it does", "needs", "nobody's text", "an agent's", "a person's", "lifted by"];
    table("Who may do what", intro, &head, rows)
}

fn glossary() -> String {
    let rows = GLOSSARY.iter().map(|(word, meaning)| vec![(*word).to_owned(), (*meaning).to_owned()]);
    table("Glossary", "Words that mean something particular in Heirloom.", &["word", "meaning"], rows)
}

fn channels() -> String {
    let intro = "Trust comes from the channel, never from the content.";
    let rows = trust::TABLE.iter().map(|row| {
        vec![
            row.who.to_owned(),
            format!("`{}`", row.name),
            format!("`{}`", row.source.name()),
            row.trust.name().to_owned(),
        ]
    });
    table("Channels and trust", intro, &["who", "channel", "source", "trust"], rows)
}

fn gate() -> String {
    let intro = "What the gate does about what it finds, by shelf. Contact data is cut out everywhere under `gate.contact: redact`.";
    let act = |row: Row, class, level, trust| format!("{:?}", row.act(class, level, trust)).to_lowercase();
    let rows = Row::ALL.into_iter().map(|row| {
        let high = heirloom_core::Trust::High;
        vec![
            row.name().to_owned(),
            act(row, Class::Secret, Level::Definite, high),
            act(row, Class::Secret, Level::Probable, high),
            act(row, Class::Secret, Level::Possible, high),
            act(row, Class::Identity, Level::Definite, high),
            act(row, Class::Contact, Level::Possible, high),
            act(row, Class::Injection, Level::Definite, heirloom_core::Trust::Low),
            act(row, Class::Injection, Level::Definite, high),
        ]
    });
    let head = [
        "shelf",
        "definite secret",
        "probable secret",
        "possible secret",
        "identity",
        "contact",
        "injection, low trust",
        "injection, else",
    ];
    table("The gate's policy", intro, &head, rows)
}

/// Every command with its help.
fn commands() -> String {
    let mut page = "# Commands\n".to_owned();
    let mut root = Args::command();
    root.build();
    walk(&mut page, &mut root, "heirloom");
    page
}

fn walk(page: &mut String, command: &mut clap::Command, path: &str) {
    let help = command.render_long_help().to_string();
    let tidy: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let _ = write!(page, "\n## {path}\n\n```text\n{}\n```\n", tidy.trim_end());
    let names: Vec<String> = command
        .get_subcommands()
        .filter(|c| !["help", "merge-driver", "reference"].contains(&c.get_name()))
        .map(|c| c.get_name().to_owned())
        .collect();
    for name in names {
        if let Some(inner) = command.find_subcommand_mut(&name) {
            walk(page, inner, &format!("{path} {name}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use heirloom_engine::verbs::schema;

    /// Commands without an answer of their own, and why.
    const SILENT: &[(&str, &str)] = &[
        ("completions", "prints a script for a shell"),
        ("config-category-add", "answers as `config-category`"),
        ("config-category-disable", "answers as `config-category`"),
        ("config-category-enable", "answers as `config-category`"),
        ("demo", "tells a story"),
        ("hook", "answers in the words of the agent that calls it"),
        ("log", "answers as `history` or `last`"),
        ("man", "prints manual pages"),
        ("mcp", "speaks its own protocol"),
        ("merge-driver", "is called by git, which reads exit codes"),
        ("model-install", "answers as `model embed`, which it ends with"),
        ("record-index", "answers in the record format's own lines"),
        ("reference", "prints pages of the documentation"),
        ("review-list", "is `review`"),
        ("open", "serves the page until it is stopped"),
        ("serve", "serves until it is stopped"),
        ("user-revoke", "answers as `user-token --revoke`"),
    ];

    fn leaves(command: &clap::Command, name: &str, found: &mut Vec<String>) {
        let mut below = command.get_subcommands().filter(|one| one.get_name() != "help").peekable();
        if below.peek().is_none() || !command.is_subcommand_required_set() {
            found.push(name.to_owned());
        }
        for one in below {
            let name = format!("{name}-{}", one.get_name());
            leaves(one, name.trim_start_matches('-'), found);
        }
    }

    #[test]
    fn every_command_has_a_schema_for_its_answer_or_a_reason_why_not() {
        let mut found = Vec::new();
        let mut whole = crate::args::Args::command();
        whole.build();
        for one in whole.get_subcommands().filter(|one| one.get_name() != "help") {
            leaves(one, one.get_name(), &mut found);
        }
        assert!(found.len() > 60, "{found:?}");
        let mut answers: Vec<&str> = schema::answers().collect();
        #[cfg(feature = "postgres")]
        answers.extend(heirloom_postgres::team::answers().into_iter().map(|(name, _)| name));
        let silent = |name: &str| SILENT.iter().any(|(of, _)| *of == name);
        let without: Vec<_> =
            found.iter().filter(|name| !answers.contains(&name.as_str()) && !silent(name)).collect();
        assert!(without.is_empty(), "{without:?}");
        for (name, why) in SILENT {
            let known = found.iter().any(|one| one == name) || cfg!(not(feature = "server"));
            assert!(known && why.len() > 5 && !answers.contains(name), "{name}");
        }
    }
}
