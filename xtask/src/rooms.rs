//! The rooms: which module of a crate may use which, so that inside a crate too every arrow points one way.
//!
//! A room is a file or folder at the top of a crate's sources. Comes in: [`HOUSE`] and the sources, tests left out. Goes out: every arrow and
//! every room that is not in the table. Rooms of a crate stand in the order in which they rest on each other: a room may use only rooms above it
//! in the list, so a table with a circle in it cannot be written. `ARCHITECTURE.md` shows the same table ([`drawn`]).
//!
//! What counts as a use: `crate::room`, `crate::{room, …}`, `super::room` where `super` is the crate itself, and a name that the crate's root
//! hands on from a room. A method that a room adds to a type of a lower one (`impl Call` in `shelf/`) must not be called where the type is at home
//! ([`LENT`]).

use crate::workspace;
use std::collections::{BTreeMap, BTreeSet};

/// A room and the rooms it may use.
type Room = (&'static str, &'static [&'static str]);

/// A crate and its rooms, the lowest first.
struct Floor {
    folder: &'static str,
    rooms: &'static [Room],
}

const HOUSE: &[Floor] = &[
    Floor {
        folder: "crates/core/src",
        rooms: &[
            ("hash", &[]),
            ("json", &[]),
            ("time", &[]),
            ("code", &[]),
            ("fault", &["code"]),
            ("kind", &[]),
            ("trust", &[]),
            ("memory", &["kind", "trust"]),
            ("text", &["memory"]),
            ("audience", &["kind", "memory"]),
            ("settings", &["kind", "text", "trust"]),
            ("caller", &["audience", "fault", "settings", "trust"]),
            ("authority", &["caller", "code", "fault"]),
        ],
    },
    Floor {
        folder: "crates/engine/src",
        rooms: &[
            ("budget", &[]),
            ("files", &["budget"]),
            ("threads", &["budget"]),
            ("git", &["files"]),
            ("gate", &["budget", "files"]),
            ("endpoints", &["files"]),
            ("pin", &["files"]),
            ("undo", &["files", "gate", "threads"]),
            ("project", &["files", "git"]),
            ("index", &["files", "threads"]),
            ("rank", &["index"]),
            ("working", &[]),
            ("deployment", &["gate", "index", "threads", "working"]),
            ("call", &["budget", "deployment", "gate", "index", "project", "threads", "undo", "working"]),
            (
                "shelf",
                &[
                    "budget", "call", "files", "gate", "git", "index", "pin", "project", "rank", "threads",
                    "undo", "working",
                ],
            ),
            ("settings", &["call", "files", "gate", "project", "shelf"]),
            ("follow", &["budget", "call", "files", "gate", "index", "shelf"]),
            (
                "recall",
                &[
                    "budget", "call", "files", "follow", "gate", "index", "project", "rank", "shelf",
                    "working",
                ],
            ),
            ("inject", &["call", "gate", "recall", "shelf"]),
            ("capture", &["budget", "call", "files", "gate", "index", "shelf"]),
            ("convert", &["call", "gate", "shelf"]),
            ("hook", &["budget", "call", "capture", "files", "gate", "inject", "project", "shelf"]),
            ("transfer", &["call", "capture", "files", "gate", "project", "shelf", "threads"]),
            (
                "verbs",
                &[
                    "budget",
                    "call",
                    "capture",
                    "convert",
                    "deployment",
                    "endpoints",
                    "files",
                    "follow",
                    "gate",
                    "git",
                    "hook",
                    "index",
                    "inject",
                    "pin",
                    "project",
                    "rank",
                    "recall",
                    "settings",
                    "shelf",
                    "threads",
                    "transfer",
                    "undo",
                    "working",
                ],
            ),
        ],
    },
    Floor {
        folder: "crates/postgres/src",
        rooms: &[
            ("drive", &[]),
            ("fault", &[]),
            ("values", &[]),
            ("statements", &[]),
            ("schema", &[]),
            ("tls", &[]),
            ("address", &["tls"]),
            ("lease", &["fault", "values"]),
            ("link", &["address", "drive", "fault", "lease", "schema"]),
            ("session", &["lease", "link", "values"]),
            ("accounts", &["lease", "link", "session", "values"]),
            ("rows", &["link", "session", "values"]),
            ("drafts", &["link", "session", "values"]),
            ("once", &["link", "session", "values"]),
            ("audit", &["link", "session", "statements", "values"]),
            ("kept", &["audit", "link", "session", "values"]),
            ("vectors", &["link", "rows", "session", "statements", "values"]),
            ("write", &["audit", "kept", "link", "rows", "session", "statements", "values", "vectors"]),
            ("back", &["audit", "kept", "link", "rows", "session", "write"]),
            ("search", &["link", "rows", "session", "statements", "values", "vectors"]),
            ("team", &["address", "fault", "link", "schema", "statements"]),
        ],
    },
    Floor {
        folder: "crates/agents/src",
        rooms: &[
            ("table", &[]),
            ("event", &[]),
            ("wire", &["event", "table"]),
            ("reply", &["table"]),
            ("install", &["table"]),
            ("bundle", &["install", "table"]),
        ],
    },
    Floor {
        folder: "crates/server/src",
        rooms: &[
            ("desk", &[]),
            ("shape", &[]),
            ("told", &[]),
            ("uri", &[]),
            ("mem0", &[]),
            ("counter", &["desk", "told"]),
            ("mcp", &["counter", "desk", "shape", "told", "uri"]),
            ("http", &["counter", "desk", "mcp", "mem0", "shape", "told", "uri"]),
            ("page", &["desk", "http", "uri"]),
        ],
    },
    Floor {
        folder: "crates/cli/src",
        rooms: &[
            ("environment", &[]),
            ("hook_input", &[]),
            ("attended", &["environment"]),
            ("machine", &["environment"]),
            ("named", &["environment"]),
            ("world", &["environment"]),
            ("output", &["environment", "world"]),
            ("args", &[]),
            ("person", &["environment", "output"]),
            ("endpoint", &["environment", "world"]),
            ("picker", &["output", "person"]),
            ("wiring", &["args", "endpoint", "environment", "named", "output", "person", "world"]),
            ("desk", &["args", "endpoint", "environment", "named", "person", "wiring", "world"]),
            (
                "commands",
                &[
                    "args",
                    "attended",
                    "desk",
                    "endpoint",
                    "environment",
                    "hook_input",
                    "machine",
                    "named",
                    "output",
                    "person",
                    "picker",
                    "wiring",
                    "world",
                ],
            ),
        ],
    },
    Floor {
        folder: "fuzz/src",
        rooms: &[("archive", &[]), ("arrival", &[]), ("files", &[]), ("repository", &[]), ("scan", &[])],
    },
    Floor {
        folder: "xtask/src",
        rooms: &[
            ("run", &[]),
            ("workspace", &["run"]),
            ("report", &[]),
            ("requirements", &["run"]),
            ("embed", &[]),
            ("conformance", &[]),
            ("retrieval", &[]),
            ("tour", &[]),
            ("picture", &["tour"]),
            ("symbols", &["workspace"]),
            ("install", &["run", "symbols", "workspace"]),
            ("stress", &["conformance", "report"]),
            ("bench", &["conformance", "install", "report", "stress", "workspace"]),
            ("load", &["report", "run", "stress", "workspace"]),
            ("page", &["report", "run", "stress", "workspace"]),
            ("speed", &["bench", "retrieval"]),
            ("first_day", &["retrieval", "workspace"]),
            ("order", &["install", "run", "speed", "symbols"]),
            ("fuzz", &["run", "workspace"]),
            ("hosts", &["run"]),
            ("rooms", &["workspace"]),
            ("generate", &["picture", "rooms", "run", "tour", "workspace"]),
            ("layers", &["rooms", "workspace"]),
            ("licences", &["run", "workspace"]),
            ("dependencies", &["workspace"]),
            ("attacks", &["workspace"]),
            ("words", &["workspace"]),
            ("clients", &["run"]),
            ("package", &["clients", "install", "run", "workspace"]),
            ("sdk", &["clients", "package", "run"]),
            ("test", &["clients", "requirements", "run", "sdk"]),
            ("check", &["attacks", "dependencies", "generate", "layers", "licences", "words"]),
            ("ci", &["check", "fuzz", "requirements", "run", "test"]),
        ],
    },
];

/// Types that rooms above their own add methods to: where the type is at home, and where none of those methods may be called.
const LENT: &[(&str, &str)] = &[
    ("Call", "crates/engine/src/call.rs"),
    ("Deployment", "crates/engine/src/deployment.rs"),
    ("Tiers", "crates/engine/src/shelf/tiers/"),
    ("Vault", "crates/engine/src/shelf/vault/"),
    ("Topics", "crates/engine/src/shelf/topics/"),
    ("Records", "crates/engine/src/shelf/records/"),
];

/// A source file: its path from the workspace folder, and its text.
type Source = (String, String);

/// Every arrow and room that must not be there.
pub(crate) fn wrong() -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for floor in HOUSE {
        wrong.extend(wrong_on(floor, &sources(floor.folder)?));
    }
    wrong.extend(borrowed_back(&sources("crates/engine/src")?));
    Ok(wrong)
}

/// The sources of a crate without its tests.
fn sources(folder: &str) -> Result<Vec<Source>, String> {
    let ships = |path: &String| {
        path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            && path.ends_with(".rs")
            && !path.ends_with("_tests.rs")
            && !path.contains("/tests/")
            && !path.contains("/story/")
    };
    let tracked: Vec<String> = workspace::tracked()?.into_iter().filter(ships).collect();
    let read = |path: String| {
        let text =
            std::fs::read_to_string(workspace::root().join(&path)).map_err(|e| format!("{path}: {e}"))?;
        Ok((path, without_tests(&text)))
    };
    let all: Vec<Source> = tracked.into_iter().map(read).collect::<Result<_, String>>()?;
    let tests: Vec<String> = all.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    let is_test = |path: &str| {
        tests.iter().any(|test| path == format!("{test}.rs") || path.starts_with(&format!("{test}/")))
    };
    Ok(all.into_iter().filter(|(path, _)| !is_test(path)).collect())
}

/// The modules that a file declares for tests alone, by their path without an ending.
fn test_modules(path: &str, text: &str) -> Vec<String> {
    let home = match path.rsplit_once('/') {
        Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder,
        _ => path.trim_end_matches(".rs"),
    };
    let lines: Vec<&str> = text.lines().collect();
    let named = |pair: &[&str]| {
        let name = pair[1].strip_prefix("mod ")?.strip_suffix(';')?;
        (pair[0] == "#[cfg(test)]").then(|| format!("{home}/{name}"))
    };
    lines.windows(2).filter_map(named).collect()
}

/// A file's text without comments and without the tests at its end.
fn without_tests(text: &str) -> String {
    let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    // Comments become empty lines, so that lines keep their numbers.
    let code =
        |line: &str| if line.trim_start().starts_with("//") { "\n".to_owned() } else { format!("{line}\n") };
    shipped.lines().map(code).collect()
}

/// The room of a file, from its crate's sources; nothing for the crate's root.
fn room_of<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    let inner = path.strip_prefix(folder)?.trim_start_matches('/');
    let room = inner.split('/').next()?.trim_end_matches(".rs");
    (!matches!(room, "lib" | "main")).then_some(room)
}

fn wrong_on(floor: &Floor, sources: &[Source]) -> Vec<String> {
    let mut wrong = upward(floor);
    let known: BTreeMap<&str, &[&str]> = floor.rooms.iter().copied().collect();
    let there: BTreeSet<&str> = sources.iter().filter_map(|(path, _)| room_of(floor.folder, path)).collect();
    for room in there.iter().filter(|room| !known.contains_key(*room)) {
        wrong.push(format!("{}/{room} has no place in xtask/src/rooms.rs", floor.folder));
    }
    for (room, _) in floor.rooms.iter().filter(|(room, _)| !there.contains(room)) {
        wrong.push(format!("{}/{room} stands in xtask/src/rooms.rs and is not there", floor.folder));
    }
    let root = sources.iter().find(|(path, _)| room_of(floor.folder, path).is_none());
    let handed_on = root.map(|(_, text)| handed_on(text)).unwrap_or_default();
    for (path, text) in sources {
        let Some(room) = room_of(floor.folder, path) else { continue };
        let allowed = known.get(room).copied().unwrap_or_default();
        for (line, name) in used(text, depth_of(floor.folder, path)) {
            let used = if there.contains(name.as_str()) { Some(&name) } else { handed_on.get(&name) };
            let Some(used) = used.filter(|used| *used != room && !allowed.contains(&used.as_str())) else {
                continue;
            };
            wrong.push(format!("{path}:{line}: `{room}` must not use `{used}`"));
        }
    }
    wrong
}

/// What of the table itself does not point downwards. Modules that are shared with tests, such as a server for them, are no rooms.
fn upward(floor: &Floor) -> Vec<String> {
    let mut wrong = Vec::new();
    for (at, (room, uses)) in floor.rooms.iter().enumerate() {
        let above = |used: &&&str| floor.rooms.iter().skip(at).any(|(name, _)| *name == **used);
        for used in uses.iter().filter(above) {
            wrong.push(format!(
                "xtask/src/rooms.rs: {}: `{room}` rests on `{used}`, which comes later",
                floor.folder
            ));
        }
    }
    wrong
}

/// How many `super` lead from a file to its crate's root.
fn depth_of(folder: &str, path: &str) -> usize {
    let inner = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
    let folders = inner.matches('/').count();
    if inner.ends_with("/mod.rs") { folders } else { folders + 1 }
}

/// The names at the crate's root that a file uses, each with its line.
fn used(text: &str, depth: usize) -> Vec<(usize, String)> {
    let chain = "super::".repeat(depth);
    let mut found = Vec::new();
    for start in ["crate::", chain.as_str()] {
        for (at, _) in text.match_indices(start) {
            let before = text[..at].chars().next_back();
            // `$crate`, `my_crate`, or a chain of which this is only the end.
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ':')) {
                continue;
            }
            let line = text[..at].matches('\n').count() + 1;
            found.extend(names(&text[at + start.len()..]).into_iter().map(|name| (line, name)));
        }
    }
    found
}

/// The first names of what follows a path: one, or each of a list in braces.
fn names(rest: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(list) = rest.strip_prefix('{') else { return vec![word(rest)] };
    let (mut names, mut deep, mut item) = (Vec::new(), 0usize, String::new());
    for c in list.chars() {
        match c {
            '}' if deep == 0 => break,
            '{' => deep += 1,
            '}' => deep -= 1,
            ',' if deep == 0 => names.push(std::mem::take(&mut item)),
            _ if deep == 0 => item.push(c),
            _ => {}
        }
    }
    names.push(item);
    names.iter().map(|name| word(name)).filter(|name| !name.is_empty()).collect()
}

/// The names that a crate's root hands on, and the room each comes from.
fn handed_on(root: &str) -> BTreeMap<String, String> {
    let mut from = BTreeMap::new();
    for (at, start) in root.match_indices("pub use ").chain(root.match_indices("pub(crate) use ")) {
        let rest = &root[at + start.len()..];
        let Some((path, _)) = rest.split_once(';') else { continue };
        let Some((room, inner)) = path.split_once("::") else { continue };
        let list = inner.rfind("::").map_or(inner, |at| &inner[at + 2..]);
        for name in names(list) {
            from.insert(name, room.to_owned());
        }
    }
    from
}

/// Methods that a higher room lends a type, called where that type is at home.
fn borrowed_back(sources: &[Source]) -> Vec<String> {
    const ENGINE: &str = "crates/engine/src";
    let mut wrong = Vec::new();
    for (name, home) in LENT {
        let at_home = room_of(ENGINE, home);
        let lent: BTreeSet<String> = sources
            .iter()
            .filter(|(path, _)| room_of(ENGINE, path) != at_home)
            .flat_map(|(_, text)| methods(text, name))
            .collect();
        for (path, text) in sources.iter().filter(|(path, _)| path.starts_with(home)) {
            for (at, line) in text.lines().enumerate() {
                if let Some(method) = lent.iter().find(|method| line.contains(&format!("self.{method}("))) {
                    wrong.push(format!(
                        "{path}:{}: calls `{method}`, which a room above lends `{name}`",
                        at + 1
                    ));
                }
            }
        }
    }
    wrong
}

/// The methods of every `impl` block of a type in a text.
fn methods(text: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(of) = line.strip_prefix("impl").filter(|_| line.ends_with('{')) {
            // Without its parameters, and not a trait's: those are asked for by the trait's name.
            let of = of.rsplit(' ').nth(1).unwrap_or_default();
            inside = of.split('<').next() == Some(name) && !line.contains(" for ");
        } else if line == "}" {
            inside = false;
        } else if inside
            && let Some((_, rest)) = line
                .split_once("fn ")
                .filter(|(before, _)| before.starts_with("    ") && !before.starts_with("     "))
        {
            found.extend(names(rest));
        }
    }
    found
}

/// Where the drawing begins and ends in `ARCHITECTURE.md`.
const BEGIN: &str =
    "<!-- rooms: made by `cargo xtask generate` from xtask/src/rooms.rs; edits are lost -->\n";
const END: &str = "<!-- /rooms -->\n";

/// A page with the table drawn where it belongs.
pub(crate) fn drawn(page: &str) -> Result<String, String> {
    let missing = || format!("`{}` and `{}` must stand in the page", BEGIN.trim_end(), END.trim_end());
    let (before, rest) = page.split_once(BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{BEGIN}```text\n{}```\n{END}{after}", drawing()))
}

/// A crate after the other, a room a line, with the rooms it may use.
fn drawing() -> String {
    let mut text = String::new();
    for floor in HOUSE {
        let wide = floor.rooms.iter().map(|(room, _)| room.len()).max().unwrap_or_default();
        text.push_str(&format!("{}/\n", floor.folder));
        for (room, uses) in floor.rooms {
            let uses = if uses.is_empty() { "nothing".to_owned() } else { uses.join(", ") };
            text.push_str(&format!("  {room:wide$} → {uses}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Floor =
        Floor { folder: "c/src", rooms: &[("low", &[]), ("middle", &["low"]), ("high", &["low", "middle"])] };

    fn house(middle: &str) -> Vec<Source> {
        let file = |path: &str, text: &str| (format!("c/src/{path}"), without_tests(text));
        vec![
            file("lib.rs", "pub mod high;\npub use high::top::{Roof, Tile as Slate};\n"),
            file("low.rs", "pub struct Stone;\n"),
            file("middle/mod.rs", middle),
            file("high/mod.rs", "use crate::{low::Stone, middle};\nuse super::low;\n"),
            file("high/top.rs", "use super::super::middle;\nuse super::shape;\n"),
        ]
    }

    #[test]
    fn arrows_downwards_are_allowed() {
        assert_eq!(wrong_on(&SMALL, &house("use crate::low::Stone;\n")), Vec::<String>::new());
    }

    #[test]
    fn a_planted_back_arrow_is_refused_however_it_is_spelled() {
        for planted in [
            "use crate::high::top;",
            "use crate::{\n    low::{Stone},\n    high,\n};",
            "fn f() { crate::high::f() }",
            "use super::high;",
            "use crate::Roof;",
            "use crate::Tile;",
        ] {
            let wrong = wrong_on(&SMALL, &house(planted));
            assert_eq!(wrong.len(), 1, "{planted}: {wrong:?}");
            assert!(wrong[0].contains("`middle` must not use `high`"), "{wrong:?}");
        }
    }

    #[test]
    fn what_a_test_or_a_comment_says_is_no_arrow() {
        let only_tests = "//! See [`crate::high`].\n#[cfg(test)]\nmod tests {\n    use crate::high;\n}\n";
        assert_eq!(wrong_on(&SMALL, &house(only_tests)), Vec::<String>::new());
    }

    #[test]
    fn a_module_for_tests_alone_is_left_out() {
        let text = "mod desk;\n#[cfg(test)]\nmod walk;\n";
        assert_eq!(test_modules("c/src/verbs/mod.rs", text), ["c/src/verbs/walk"]);
        assert_eq!(test_modules("c/src/verbs.rs", text), ["c/src/verbs/walk"]);
    }

    #[test]
    fn a_room_that_is_not_in_the_table_is_refused_and_so_is_one_that_is_gone() {
        let mut sources = house("");
        sources.push(("c/src/attic.rs".to_owned(), String::new()));
        assert!(wrong_on(&SMALL, &sources)[0].contains("attic has no place"));
        sources.retain(|(path, _)| !path.contains("attic") && !path.contains("low"));
        assert!(wrong_on(&SMALL, &sources)[0].contains("low stands in"));
    }

    #[test]
    fn a_table_with_a_circle_is_refused() {
        let circle = Floor { folder: "c/src", rooms: &[("low", &["high"]), ("high", &["low"])] };
        assert_eq!(upward(&circle).len(), 1);
        assert!(HOUSE.iter().all(|floor| upward(floor).is_empty()));
    }

    #[test]
    fn a_method_lent_from_above_is_not_called_at_home() {
        let call = |text: &str| {
            vec![
                ("crates/engine/src/call.rs".to_owned(), text.to_owned()),
                (
                    "crates/engine/src/shelf/open.rs".to_owned(),
                    "impl Call {\n    pub fn records(&self) -> R {\n    }\n}\n".to_owned(),
                ),
            ]
        };
        assert_eq!(borrowed_back(&call("fn f() { self.project() }")), Vec::<String>::new());
        assert_eq!(borrowed_back(&call("fn f() { self.records() }")).len(), 1);
    }

    #[test]
    fn a_page_shows_the_table_as_it_is_now() {
        let page = drawn(&format!("above\n{BEGIN}something old\n{END}below\n")).unwrap();
        assert!(page.starts_with("above\n") && page.ends_with("below\n"), "{page}");
        assert!(page.contains("\n  rank       → index\n") && !page.contains("something old"), "{page}");
        assert_eq!(drawn(&page).unwrap(), page);
        assert!(drawn("a page without a place for it").is_err());
    }
}
