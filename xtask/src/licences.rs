//! Licences: everything we link is permissive.
//!
//! Comes in: cargo's description of the build and the list in `deny.toml`, so that this check and `cargo deny` cannot disagree. Goes out:
//! packages whose licence is not allowed.

use crate::workspace::{self, Package};
use crate::{Outcome, run};
use spdx::{Expression, Licensee, ParseMode};

pub(crate) fn run() -> Outcome {
    let path = workspace::root().join("deny.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("deny.toml: {e}"))?;
    let allowed = allowed(&text)?;
    let wrong = refused(&workspace::packages()?, &allowed);
    if !wrong.is_empty() {
        return Err(format!("licences:\n  {}", wrong.join("\n  ")));
    }
    // Those who have cargo-deny get its checks of versions and sources too; it is too slow to build just for this.
    if run::is_there("cargo-deny") {
        run::run(&mut run::cargo(&["deny", "--offline", "check", "bans", "licenses", "sources"]))?;
    }
    Ok(())
}

/// The `allow` list of the `[licenses]` table.
fn allowed(text: &str) -> Result<Vec<Licensee>, String> {
    let table = text.split("[licenses]").nth(1).ok_or("deny.toml has no [licenses]")?;
    let list = table.split_once("allow = [").and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.ok_or("deny.toml has no `allow = [ … ]` under [licenses]")?;
    let names = list.split('"').skip(1).step_by(2);
    names.map(|name| Licensee::parse(name).map_err(|e| format!("deny.toml: `{name}`: {e}"))).collect()
}

fn refused(packages: &[Package], allowed: &[Licensee]) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in packages {
        let name = format!("{} {}", package.name, package.version);
        // Cargo still accepts the old slash for "or".
        let expression = package.licence.as_deref().map(|text| Expression::parse_mode(text, ParseMode::LAX));
        match expression {
            None => wrong.push(format!("{name} names no licence")),
            Some(Err(e)) => wrong.push(format!("{name}: {e}")),
            Some(Ok(expression)) => {
                if !expression.evaluate(|wanted| allowed.iter().any(|have| have.satisfies(wanted))) {
                    wrong.push(format!("{name} is under `{expression}`, which deny.toml does not allow"));
                }
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(licence: Option<&str>) -> Package {
        Package {
            name: "x".into(),
            version: "1.0.0".into(),
            licence: licence.map(str::to_owned),
            ours: false,
            dependencies: Vec::new(),
        }
    }

    #[test]
    fn one_allowed_side_of_an_or_is_enough_and_both_sides_of_an_and_are_needed() {
        let allowed = allowed("[licenses]\nallow = [\n  \"MIT\",\n  \"Unicode-3.0\",\n]\n").unwrap();
        let count = |text: Option<&str>| refused(&[package(text)], &allowed).len();
        assert_eq!(count(Some("MIT OR GPL-3.0-only")), 0);
        assert_eq!(count(Some("MIT/GPL-3.0-only")), 0);
        assert_eq!(count(Some("(MIT OR Apache-2.0) AND Unicode-3.0")), 0);
        assert_eq!(count(Some("MIT AND GPL-3.0-only")), 1);
        assert_eq!(count(Some("GPL-3.0-only")), 1);
        assert_eq!(count(None), 1);
    }
}
