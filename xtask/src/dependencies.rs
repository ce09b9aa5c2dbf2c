//! `docs/dependencies.md`: every direct dependency has a line with a reason.
//!
//! Comes in: cargo's description of the workspace and the page. Goes out: dependencies without a line, lines without a dependency, and lines
//! that name another licence than the package does.

use crate::Outcome;
use crate::workspace;
use std::collections::BTreeSet;

const PAGE: &str = "docs/dependencies.md";

pub(crate) fn run() -> Outcome {
    let packages = workspace::packages()?;
    let ours: BTreeSet<&str> = packages.iter().filter(|p| p.ours).map(|p| p.name.as_str()).collect();
    let used: BTreeSet<&str> = packages
        .iter()
        .filter(|package| package.ours)
        .flat_map(|package| package.dependencies.iter().map(|d| d.name.as_str()))
        .filter(|name| !ours.contains(name))
        .collect();
    let page = std::fs::read_to_string(workspace::root().join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    let listed = listed(&page);
    let missing = used.difference(&listed).map(|name| format!("`{name}` is used but not listed"));
    let extra = listed.difference(&used).map(|name| format!("`{name}` is listed but not used"));
    let licences = packages.iter().filter(|p| used.contains(p.name.as_str())).filter_map(|package| {
        let licence = package.licence.as_deref().unwrap_or("no licence");
        let line = page.lines().find(|line| line.starts_with(&format!("| `{}` |", package.name)))?;
        let named = line.contains(&format!("| {licence} |"));
        (!named).then(|| format!("`{}` is under `{licence}`", package.name))
    });
    let wrong: Vec<String> = missing.chain(extra).chain(licences).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{PAGE}:\n  {}", wrong.join("\n  "))) }
}

/// The names in the first column of the page's tables.
fn listed(page: &str) -> BTreeSet<&str> {
    page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_column_of_a_table_names_a_dependency() {
        let page = "# Dependencies\n\n| crate | why |\n|---|---|\n| `serde` | reads `json` |\n`other`\n";
        assert_eq!(listed(page).into_iter().collect::<Vec<_>>(), ["serde"]);
    }
}
