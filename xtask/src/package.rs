//! `package`: what people install: a wheel for Python, and for npm a package with the client beside one with the program of this platform.
//!
//! Comes in: nothing, or a program that is built already. Goes out: a wheel and two archives in a folder. The wheel carries the same static program as
//! `install`. Never here: publishing them.

use crate::clients::installed;
use crate::run::{self, root, run};
use crate::{Outcome, install, workspace};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NPM: &[&str] = &["@types/node@20.19.25", "openapi-typescript@7.13.0", "typescript@5.9.3"];

/// What was made.
pub(crate) struct Packages {
    pub(crate) wheel: PathBuf,
    /// The package with the client, then the one with the program.
    pub(crate) npm: [PathBuf; 2],
}

pub(crate) fn run_all(args: &[String]) -> Outcome {
    if !args.is_empty() {
        return Err("usage: cargo xtask package".to_owned());
    }
    let tools = tools()?;
    let program = install::program()?;
    let made = made(&program, &tools, &root().join("target/package"))?;
    for file in [&made.wheel, &made.npm[0], &made.npm[1]] {
        let size = std::fs::metadata(file).map_or(0, |meta| meta.len());
        println!("{} ({:.1} MB)", file.display(), size as f64 / 1e6);
    }
    Ok(())
}

/// The TypeScript compiler and what makes the types.
pub(crate) fn tools() -> Result<PathBuf, String> {
    let home = root().join("target/clients/sdk-npm");
    installed(&home, NPM, || {
        std::fs::write(home.join("package.json"), "{\"private\":true}\n").map_err(|e| e.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund"]).args(NPM);
        run(npm.current_dir(&home).stdout(Stdio::null()))
    })?;
    Ok(home)
}

/// Makes the packages of a program. `tools` is the folder in which the TypeScript compiler is installed.
pub(crate) fn made(program: &Path, tools: &Path, out: &Path) -> Result<Packages, String> {
    let _ = std::fs::remove_dir_all(out);
    std::fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
    let version = version()?;
    let mut python = Command::new("python3");
    python.arg(root().join("python/build_wheel.py")).arg(program).arg(&version).arg(out);
    let wheel = PathBuf::from(run::output(&mut python)?.trim());
    let platform = platform()?;
    let main = client(tools, &out.join("heirloom-memory"), &version, &platform)?;
    let beside = binary(program, &out.join(&platform), &version, &platform)?;
    Ok(Packages { wheel, npm: [packed(&main, out)?, packed(&beside, out)?] })
}

fn version() -> Result<String, String> {
    let packages = workspace::packages()?;
    let own = packages.into_iter().find(|package| package.ours && package.name == "heirloom");
    own.map(|package| package.version).ok_or_else(|| "cargo does not know `heirloom`".to_owned())
}

/// The package with the program, as Node calls this platform.
fn platform() -> Result<String, String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        other => return Err(format!("there is no package for {other}")),
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => return Err(format!("there is no package for {other}")),
    };
    Ok(format!("heirloom-memory-{system}-{machine}"))
}

/// The client, compiled, and the script that starts the program.
fn client(tools: &Path, folder: &Path, version: &str, platform: &str) -> Result<PathBuf, String> {
    let from = root().join("typescript");
    compiled(tools, &folder.join("dist"))?;
    for file in ["bin/heirloom.js", "README.md"] {
        copied(&from.join(file), &folder.join(file))?;
    }
    let text =
        std::fs::read_to_string(from.join("package.json")).map_err(|e| format!("package.json: {e}"))?;
    let mut package: Value = serde_json::from_str(&text).map_err(|e| format!("package.json: {e}"))?;
    package["version"] = json!(version);
    package["optionalDependencies"] = json!({ platform: version });
    if let Some(package) = package.as_object_mut() {
        package.remove("devDependencies");
        package.remove("scripts");
    }
    described(folder, &package)
}

/// Compiles the client into a folder.
pub(crate) fn compiled(tools: &Path, out: &Path) -> Outcome {
    let mut tsc = Command::new("node");
    tsc.arg(tools.join("node_modules/typescript/bin/tsc")).arg("--project").arg(root().join("typescript"));
    tsc.arg("--typeRoots").arg(tools.join("node_modules/@types")).arg("--outDir").arg(out);
    run(&mut tsc)
}

/// The program of this platform.
fn binary(program: &Path, folder: &Path, version: &str, platform: &str) -> Result<PathBuf, String> {
    copied(program, &folder.join("bin/heirloom"))?;
    let mut parts = platform.rsplit('-');
    let (machine, system) = (parts.next(), parts.next());
    described(
        folder,
        &json!({
            "name": platform,
            "version": version,
            "description": "The program of heirloom-memory for one platform",
            "license": "Apache-2.0 OR MIT",
            "os": [system],
            "cpu": [machine],
            "files": ["bin"],
        }),
    )
}

fn described(folder: &Path, package: &Value) -> Result<PathBuf, String> {
    for licence in ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"] {
        copied(&root().join(licence), &folder.join(licence))?;
    }
    let text = serde_json::to_string_pretty(package).map_err(|e| e.to_string())? + "\n";
    std::fs::write(folder.join("package.json"), text).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder.to_owned())
}

fn copied(from: &Path, to: &Path) -> Outcome {
    let failed = |e: std::io::Error| format!("{}: {e}", to.display());
    std::fs::create_dir_all(to.parent().unwrap_or(to)).map_err(failed)?;
    std::fs::copy(from, to).map(drop).map_err(failed)
}

fn packed(folder: &Path, out: &Path) -> Result<PathBuf, String> {
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "--pack-destination"]).arg(out).current_dir(folder).stderr(Stdio::null());
    let said = run::output(&mut npm)?;
    let name = said.lines().last().unwrap_or_default();
    Ok(out.join(name))
}
