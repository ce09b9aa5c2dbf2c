//! `sdk`: our own clients and packages: the Python package and its adapters, the TypeScript client, and both as they are installed.
//!
//! Comes in: the package registries, and the debug binary. Goes out: a line for each, `passed`, `failed` or `skipped` with the reason. Never here: a
//! release build, or the network once the tools are installed.

use crate::clients::{Count, in_home, installed};
use crate::run::{heading, root, run};
use crate::{Outcome, package};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The frameworks the adapters are for, and what tests and checks them.
const PIP: &[&str] = &[
    "anthropic==2.8.0",
    "httpx==0.28.1",
    "langgraph-checkpoint==4.3.1",
    "langgraph==1.2.20",
    "mypy==2.4.1",
    "openai-agents==0.24.0",
    "pytest-asyncio==1.5.0",
    "pytest-mock==3.17.0",
    "pytest==9.2.0",
];

/// The distribution with LangGraph's own tests.
const SOURCES: &str = "langgraph-checkpoint==4.3.1";

/// The types of the TypeScript client, made from the server's description.
const TYPES: &str = "typescript/src/api.ts";

/// `cargo xtask sdk [types]`.
pub(crate) fn run_all(args: &[String]) -> Outcome {
    match args {
        [] => {
            run(&mut crate::run::cargo(&["build", "--package", "heirloom"]))?;
            let count = checks();
            println!("\n{} passed, {} failed", count.passed, count.failed);
            if count.failed == 0 { Ok(()) } else { Err("a client or a package does not work".to_owned()) }
        }
        [what] if what == "types" => types(&package::tools()?, &root().join(TYPES)),
        _ => Err("usage: cargo xtask sdk [types]".to_owned()),
    }
}

/// Tests clients and packages with the binary that was built last.
pub(crate) fn checks() -> Count {
    heading("our own clients and packages");
    let mut count = Count::default();
    let home = match tempfile::Builder::new().prefix("hl-sdk-").tempdir() {
        Ok(home) => home,
        Err(e) => {
            count.line(&format!("failed: no folder for the clients: {e}"));
            return count;
        }
    };
    let here = Here { home: home.path().to_owned(), binary: root().join("target/debug/heirloom") };
    let python = python_tools();
    match &python {
        Err(why) => println!("skipped: the Python package: {why}"),
        Ok(tools) => here.python(&mut count, tools),
    }
    let node = package::tools();
    match &node {
        Err(why) => println!("skipped: the TypeScript client: {why}"),
        Ok(tools) => here.typescript(&mut count, tools),
    }
    match (&python, &node) {
        (Ok(python), Ok(node)) => here.packages(&mut count, python, node),
        _ => println!("skipped: the packages: their tools could not be installed"),
    }
    count
}

struct Here {
    home: PathBuf,
    binary: PathBuf,
}

impl Here {
    /// A program that sees nothing of the developer's own memory.
    fn command(&self, program: &Path) -> Command {
        let mut command = in_home(program, &self.home);
        command.env("HEIRLOOM_BINARY", &self.binary);
        command
    }

    fn python(&self, count: &mut Count, tools: &Path) {
        let folder = root().join("python");
        let mut mypy = self.command(&tools.join("bin/mypy"));
        mypy.current_dir(&folder).arg("--cache-dir").arg(tools.join("mypy"));
        count.ended("mypy --strict of the Python package", &mut mypy);
        let mut pytest = self.command(&tools.join("bin/python3"));
        pytest
            .current_dir(&folder)
            .args(["-B", "-m", "pytest"])
            .arg("--basetemp")
            .arg(self.home.join("pytest"));
        pytest.env("LANGGRAPH_SDIST", tools.join("sources"));
        count.suite("Python", &mut pytest);
    }

    fn typescript(&self, count: &mut Count, tools: &Path) {
        let fresh = self.home.join("api.ts");
        let same = types(tools, &fresh).map(|()| {
            let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
            read(&fresh) == read(&root().join(TYPES))
        });
        count.told(
            "types of the TypeScript client",
            match same {
                Ok(true) => Ok(()),
                Ok(false) => Err(format!("{TYPES} is stale; `cargo xtask sdk types` writes it")),
                Err(why) => Err(why),
            },
        );
        let out = self.home.join("typescript");
        if let Err(why) = package::compiled(tools, &out) {
            return count.told("the TypeScript client compiles", Err(why));
        }
        // Node takes `.js` for modules only where a package says so.
        let _ = std::fs::write(out.join("package.json"), "{\"type\":\"module\"}\n");
        let mut node = self.command(Path::new("node"));
        node.args(["--test", "--test-reporter", "tap"]).arg(root().join("typescript/test/client.test.mjs"));
        node.env("HEIRLOOM_CLIENT", out.join("index.js"));
        count.suite("TypeScript", &mut node);
    }

    /// Both packages, installed without a network into fresh folders.
    fn packages(&self, count: &mut Count, python: &Path, node: &Path) {
        // The symbols of a debug build are most of it.
        let program = self.home.join("heirloom");
        let stripped =
            Command::new("strip").arg("-o").arg(&program).arg(&self.binary).stderr(Stdio::null()).status();
        if !stripped.is_ok_and(|status| status.success()) {
            let _ = std::fs::copy(&self.binary, &program);
        }
        let made = match package::made(&program, node, &self.home.join("package")) {
            Ok(made) => made,
            Err(why) => return count.told("the packages", Err(why)),
        };
        count.told("the wheel installs offline and has program and client", self.wheel(python, &made.wheel));
        count.told("the npm package installs offline and has program and client", self.npm(&made.npm));
    }

    fn wheel(&self, tools: &Path, wheel: &Path) -> Outcome {
        let fresh = self.home.join("venv");
        run(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&fresh))?;
        let mut pip = self.command(&tools.join("bin/pip"));
        pip.arg("--python").arg(fresh.join("bin/python3")).args(["install", "--quiet", "--no-index"]);
        run(pip.arg("--find-links").arg(tools.join("wheels")).arg(wheel))?;
        self.same_version(&fresh.join("bin/heirloom"))?;
        let mut python = self.command(&fresh.join("bin/python3"));
        run(python.args(["-c", "import heirloom_memory as h; h.Heirloom, h.AsyncHeirloom"]))
    }

    fn npm(&self, archives: &[PathBuf]) -> Outcome {
        let fresh = self.home.join("npm");
        std::fs::create_dir(&fresh).map_err(|e| format!("{}: {e}", fresh.display()))?;
        std::fs::write(fresh.join("package.json"), "{\"private\":true}\n").map_err(|e| e.to_string())?;
        let mut npm = self.command(Path::new("npm"));
        npm.args(["install", "--offline", "--silent", "--no-audit", "--no-fund"]).args(archives);
        run(npm.current_dir(&fresh))?;
        self.same_version(&fresh.join("node_modules/.bin/heirloom"))?;
        let mut node = self.command(Path::new("node"));
        let script = "import { Heirloom } from 'heirloom-memory'; new Heirloom();";
        run(node.current_dir(&fresh).args(["--input-type", "module", "--eval", script]))
    }

    /// Whether an installed program is the one that was packed.
    fn same_version(&self, program: &Path) -> Outcome {
        let said = |program: &Path| crate::run::output(self.command(program).arg("--version"));
        let (installed, built) = (said(program)?, said(&self.binary)?);
        if installed == built { Ok(()) } else { Err(format!("it says `{}`", installed.trim())) }
    }
}

/// A Python with the frameworks, LangGraph's sources and the wheels an offline install needs.
fn python_tools() -> Result<PathBuf, String> {
    let home = root().join("target/clients/sdk-python");
    installed(&home, PIP, || {
        run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let pip = || Command::new(home.join("bin/pip"));
        run(pip().args(["install", "--quiet"]).args(PIP))?;
        run(pip().args(["download", "--quiet", "httpx==0.28.1", "--dest"]).arg(home.join("wheels")))?;
        let mut sources = pip();
        sources.args(["download", "--quiet", "--no-deps", "--no-binary", ":all:", SOURCES, "--dest"]);
        if let Err(why) = run(sources.arg(home.join("sources"))) {
            eprintln!("{why}\nLangGraph's own tests are skipped");
        }
        Ok(())
    })?;
    Ok(home)
}

/// Makes the types of the server's description.
fn types(tools: &Path, out: &Path) -> Outcome {
    let mut made = Command::new("node");
    made.arg(tools.join("node_modules/openapi-typescript/bin/cli.js"))
        .arg(root().join("schemas/openapi.json"));
    made.args(["--empty-objects-unknown", "--output"]).arg(out).stdout(Stdio::null());
    run(&mut made)
}
