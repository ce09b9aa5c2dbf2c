//! The workspace as cargo describes it.
//!
//! Comes in: nothing but where this program was built. Goes out: paths, packages and their direct dependencies. Never here: judging them.

use crate::run;
pub(crate) use crate::run::root;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// A package of the build.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    /// Whether it is one of ours.
    pub(crate) ours: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A direct dependency.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Not only for tests or build scripts.
    pub(crate) ships: bool,
}

/// Every package that is built, ours first as cargo lists them.
pub(crate) fn packages() -> Result<Vec<Package>, String> {
    let text = run::output(&mut run::cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    let value: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let ours: Vec<&str> = list(&value, "workspace_members").filter_map(Value::as_str).collect();
    Ok(list(&value, "packages")
        .map(|package| Package {
            name: text_of(package, "name"),
            version: text_of(package, "version"),
            licence: package.get("license").and_then(Value::as_str).map(str::to_owned),
            ours: package.get("id").and_then(Value::as_str).is_some_and(|id| ours.contains(&id)),
            dependencies: list(package, "dependencies")
                .map(|dependency| Dependency {
                    name: text_of(dependency, "name"),
                    ships: dependency.get("kind").is_none_or(Value::is_null),
                })
                .collect(),
        })
        .collect())
}

/// Files that git knows or would add, from the workspace folder.
pub(crate) fn tracked() -> Result<Vec<String>, String> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    Ok(run::output(&mut git)?.lines().filter(|path| root().join(path).is_file()).map(str::to_owned).collect())
}

/// `cargo build` of the program, telling where the result is.
pub(crate) fn build(args: &[&str]) -> Command {
    let mut cargo = run::cargo(&["build", "--quiet", "--package", "heirloom"]);
    cargo.args(["--message-format", "json-render-diagnostics"]).args(args);
    cargo
}

/// `cargo rustc` of the program; what is added are the compiler's arguments for the program alone.
pub(crate) fn compile(args: &[&str]) -> Command {
    let mut cargo = run::cargo(&["rustc", "--quiet", "--package", "heirloom", "--bin", "heirloom"]);
    cargo.args(["--message-format", "json-render-diagnostics"]).args(args).arg("--");
    cargo
}

/// Runs such a build; where the program is.
pub(crate) fn built(cargo: &mut Command) -> Result<PathBuf, String> {
    let messages = run::output(cargo)?;
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        message.get("executable").and_then(Value::as_str).map(PathBuf::from)
    };
    messages.lines().filter_map(executable).next_back().ok_or_else(|| "cargo built no program".to_owned())
}

/// The program, built for development.
pub(crate) fn binary() -> Result<PathBuf, String> {
    built(&mut build(&[]))
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text_of(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
