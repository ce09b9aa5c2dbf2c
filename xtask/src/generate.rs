//! Generated files: reference pages, schemas, the plugin for Claude Code, the outputs and the picture shown in `README.md` and in the book, and the drawing in
//! `ARCHITECTURE.md`.
//!
//! Comes in: the tables in the program, by way of the program itself. Goes out: the files, or the names of those that are not as they should
//! be. Never here: words of its own; what is wrong on a page is wrong in a table.

use crate::{Outcome, picture, rooms, run, tour, workspace};
use heirloom_core::Settings;
use heirloom_engine::shelf::records::json_schema;
use heirloom_engine::verbs::schema;
use std::path::Path;
use std::process::Command;

const NOTE: &str =
    "<!-- Made by `cargo xtask generate` from the tables in the program; edits are lost. -->\n\n";

/// Folders that hold nothing but generated files.
const FOLDERS: &[&str] = &["docs/reference", "schemas", PLUGIN];

const PLUGIN: &str = "plugins/claude-code";

/// Pages of the book with console blocks.
const TOURS: &[&str] = &[
    "docs/start.md",
    "docs/operations.md",
    "docs/guides/migrating.md",
    "docs/agents.md",
    "docs/recall.md",
    "docs/external.md",
    "docs/format.md",
    "docs/tiers.md",
];

/// A file as it should be.
struct Page {
    path: String,
    text: String,
}

/// Writes them.
pub(crate) fn run() -> Outcome {
    for stray in strays(&pages()?)? {
        std::fs::remove_file(workspace::root().join(&stray)).map_err(|e| format!("{stray}: {e}"))?;
        println!("removed {stray}");
    }
    for page in pages()? {
        let path = workspace::root().join(&page.path);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == page.text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        std::fs::write(&path, &page.text).map_err(|e| format!("{}: {e}", page.path))?;
        println!("wrote {}", page.path);
    }
    Ok(())
}

/// Compares them.
pub(crate) fn check() -> Outcome {
    let pages = pages()?;
    let mut wrong: Vec<String> =
        strays(&pages)?.into_iter().map(|path| format!("{path} should not be there")).collect();
    for page in &pages {
        match std::fs::read_to_string(workspace::root().join(&page.path)) {
            Ok(old) if old == page.text => {}
            Ok(old) => wrong.push(format!("{}: {}", page.path, first_difference(&old, &page.text))),
            Err(e) => wrong.push(format!("{}: {e}", page.path)),
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("generated files (`cargo xtask generate` writes them):\n  {}", wrong.join("\n  ")))
}

fn pages() -> Result<Vec<Page>, String> {
    let heirloom = workspace::binary()?;
    let mut pages = reference(&heirloom)?;
    pages.extend(schemas()?);
    let plugin = heirloom_agents::bundle::files();
    pages.extend(
        plugin.into_iter().map(|file| Page { path: format!("{PLUGIN}/{}", file.path), text: file.text }),
    );
    let marketplace = heirloom_agents::bundle::marketplace();
    pages.push(Page { path: ".claude-plugin/marketplace.json".to_owned(), text: marketplace });
    let readme = std::fs::read_to_string(workspace::root().join("README.md"))
        .map_err(|e| format!("README.md: {e}"))?;
    pages.push(Page { path: "README.md".to_owned(), text: tour::replay(&readme, &heirloom)? });
    for path in TOURS {
        let page =
            std::fs::read_to_string(workspace::root().join(path)).map_err(|e| format!("{path}: {e}"))?;
        pages.push(Page { path: (*path).to_owned(), text: tour::replay(&page, &heirloom)? });
    }
    pages.push(Page { path: "docs/picture.svg".to_owned(), text: picture::drawn(&heirloom)? });
    let house = std::fs::read_to_string(workspace::root().join("ARCHITECTURE.md"))
        .map_err(|e| format!("ARCHITECTURE.md: {e}"))?;
    let text = rooms::drawn(&house).map_err(|e| format!("ARCHITECTURE.md: {e}"))?;
    pages.push(Page { path: "ARCHITECTURE.md".to_owned(), text });
    Ok(pages)
}

fn reference(heirloom: &Path) -> Result<Vec<Page>, String> {
    let names = run::output(Command::new(heirloom).arg("reference"))?;
    names
        .lines()
        .map(|name| {
            let text = run::output(Command::new(heirloom).args(["reference", name]))?;
            Ok(Page { path: format!("docs/reference/{name}.md"), text: format!("{NOTE}{text}") })
        })
        .collect()
}

fn schemas() -> Result<Vec<Page>, String> {
    let settings = Settings::standard();
    let records = settings
        .categories
        .iter()
        .map(|category| (format!("{}.schema.json", category.name()), json_schema(category)));
    let answers = schema::answers().filter_map(|name| Some((name, schema::of(name)?)));
    let answers = answers
        .chain(heirloom_postgres::team::answers())
        .map(|(name, schema)| (format!("answers/{name}.json"), schema));
    let described = [("openapi.json".to_owned(), heirloom_server::http::document())];
    records
        .chain(answers)
        .chain(described)
        .map(|(name, schema)| {
            let text = serde_json::to_string_pretty(&schema).map_err(|e| e.to_string())?;
            Ok(Page { path: format!("schemas/{name}"), text: text + "\n" })
        })
        .collect()
}

/// Files in generated folders that nothing generates any more.
fn strays(pages: &[Page]) -> Result<Vec<String>, String> {
    let generated = |path: &str| pages.iter().any(|page| page.path == path);
    let inside = |path: &str| FOLDERS.iter().any(|folder| path.starts_with(&format!("{folder}/")));
    Ok(workspace::tracked()?.into_iter().filter(|path| inside(path) && !generated(path)).collect())
}

fn first_difference(old: &str, new: &str) -> String {
    let (mut old, mut new) = (old.lines(), new.lines());
    for at in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (is, should) if is == should => {}
            (is, should) => {
                let shown =
                    |line: Option<&str>| line.map_or("nothing".to_owned(), |line| format!("`{line}`"));
                return format!("line {at} is {}, should be {}", shown(is), shown(should));
            }
        }
    }
    "differs at the end of the file".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_its_line() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), "line 2 is `b`, should be `c`");
        assert_eq!(first_difference("a\n", "a\nc\n"), "line 2 is nothing, should be `c`");
        assert_eq!(first_difference("a", "a\n"), "differs at the end of the file");
    }
}
