//! Memory servers that others published, asked the same way as ours: over standard streams, one client, one question after the other.
//!
//! Comes in: the package registries, our own binary, how many memories. Goes out: additions and searches a second with p50 and p99, a line for each
//! server, or why one was left out. Each is installed at exactly one version below `target/`. Never here: a claim; every server is asked in the same
//! run, and what a hit is worth is not looked at.

use super::loops::Measured;
use crate::report;
use crate::run::{root, run};
use crate::stress::tiers::sentence;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const OFFICIAL: &str = "@modelcontextprotocol/server-memory@2026.8.31";
const SERVICE: &str = "mcp-memory-service==12.2.0";

/// Memories that are added before the searches; the official server writes its whole file at each.
const MEMORIES: usize = 2_000;
/// How long searches go on, and additions at most.
const LASTS: Duration = Duration::from_secs(15);

/// A server and how it is asked.
struct Rival {
    name: &'static str,
    command: Command,
    add: fn(usize) -> (&'static str, Value),
    search: fn(usize) -> (&'static str, Value),
}

/// Asks all of them, ours first.
pub(super) fn compare(program: &Path, folder: &Path) {
    report::line(&format!(
        "over standard streams, one client, up to {MEMORIES} memories, {} s of searches:",
        LASTS.as_secs()
    ));
    let ours = super::in_folder(program, &folder.join("ours"), None).map(|mut command| {
        command.arg("mcp");
        command
    });
    let rivals = [
        ours.map(|command| Rival {
            name: "heirloom",
            command,
            add: |n| ("add_memory", json!({ "kind": "episode", "text": sentence(n) })),
            search: |n| ("search_memories", json!({ "query": question(n) })),
        }),
        official(folder),
        service(folder),
    ];
    for (rival, name) in rivals.into_iter().zip(["heirloom", OFFICIAL, SERVICE]) {
        if let Err(why) = rival.and_then(measured) {
            report::line(&format!("  {name}: left out: {why}"));
        }
    }
}

fn question(n: usize) -> String {
    sentence(n * 7 % MEMORIES).split(' ').step_by(2).take(3).collect::<Vec<_>>().join(" ")
}

fn official(folder: &Path) -> Result<Rival, String> {
    let home = root().join("target/rivals/npm");
    let script = home.join("node_modules/@modelcontextprotocol/server-memory/dist/index.js");
    if !script.is_file() {
        std::fs::create_dir_all(&home).map_err(|e| e.to_string())?;
        std::fs::write(home.join("package.json"), "{\"private\":true}\n").map_err(|e| e.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", OFFICIAL]).current_dir(&home);
        run(npm.stdout(Stdio::null()))?;
    }
    let mut command = Command::new("node");
    command.arg(script).env("MEMORY_FILE_PATH", folder.join("official.jsonl"));
    Ok(Rival {
        name: OFFICIAL,
        command,
        add: |n| {
            let entity =
                json!({ "name": format!("memory {n}"), "entityType": "note", "observations": [sentence(n)] });
            ("create_entities", json!({ "entities": [entity] }))
        },
        // It looks for the words as one text.
        search: |n| {
            let words = sentence(n * 7 % MEMORIES).split(' ').take(2).collect::<Vec<_>>().join(" ");
            ("search_nodes", json!({ "query": words }))
        },
    })
}

fn service(folder: &Path) -> Result<Rival, String> {
    let home = root().join("target/rivals/python");
    let program = home.join("bin/memory");
    if !program.is_file() {
        // The system's Python first: others are often built without extensions of SQLite, which it needs.
        let python = ["/usr/bin/python3", "python3"]
            .into_iter()
            .find(|one| !one.starts_with('/') || Path::new(one).is_file());
        run(Command::new(python.unwrap_or("python3")).args(["-m", "venv"]).arg(&home))?;
        run(Command::new(home.join("bin/pip")).args(["install", "--quiet", SERVICE]))?;
    }
    let mut command = Command::new(program);
    command
        .arg("server")
        .env("MCP_MEMORY_STORAGE_BACKEND", "sqlite_vec")
        .env("MCP_MEMORY_BASE_DIR", folder.join("service"))
        .env("MCP_MEMORY_SQLITE_PATH", folder.join("service.db"))
        .env("HF_HUB_OFFLINE", "1");
    Ok(Rival {
        name: SERVICE,
        command,
        add: |n| ("memory_store", json!({ "content": format!("{} {n}", sentence(n)) })),
        search: |n| ("memory_search", json!({ "query": question(n) })),
    })
}

/// A running server and the two ends of its streams.
struct Talk {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    last: u64,
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Talk {
    fn begin(command: &mut Command) -> Result<Talk, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("it could not be started: {e}"))?;
        let stdin = child.stdin.take().ok_or("it has no input")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("it has no output")?);
        let mut talk = Talk { child, stdin, stdout, last: 0 };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "load", "version": "1" } });
        talk.ask("initialize", &hello)?;
        talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(talk)
    }

    fn say(&mut self, message: &Value) -> Result<(), String> {
        writeln!(self.stdin, "{message}").and_then(|()| self.stdin.flush()).map_err(|e| e.to_string())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.last += 1;
        let id = self.last;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).map_err(|e| e.to_string())? == 0 {
                return Err("it ended".to_owned());
            }
            // Some write other lines as well.
            match serde_json::from_str::<Value>(&line) {
                Ok(answer) if answer["id"] == id => return Ok(answer),
                _ => {}
            }
        }
    }

    fn call(&mut self, (tool, arguments): (&str, Value)) -> Result<(), String> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        // Not every server says by `isError` that something went wrong.
        let failed = answer["result"]["isError"] == true
            || answer.get("error").is_some()
            || ["Error", "Failed", "{\"error\""].iter().any(|begin| text.starts_with(begin));
        if failed { Err(format!("{tool}: {}", text.lines().next().unwrap_or_default())) } else { Ok(()) }
    }
}

fn measured(mut rival: Rival) -> Result<(), String> {
    let began = Instant::now();
    let mut talk = Talk::begin(&mut rival.command)?;
    let started = began.elapsed();
    let mut timed = |ask: fn(usize) -> (&'static str, Value), most: usize| {
        let (mut times, began) = (Vec::new(), Instant::now());
        for n in 0..most {
            if began.elapsed() >= LASTS {
                break;
            }
            let asked = Instant::now();
            talk.call(ask(n))?;
            times.push(asked.elapsed());
        }
        let rate = times.len() as f64 / began.elapsed().as_secs_f64();
        times.sort_unstable();
        Ok::<_, String>(Measured { rate, times, grew: None })
    };
    let added = timed(rival.add, MEMORIES)?;
    let found = timed(rival.search, usize::MAX)?;
    report::line(&format!("  {}: first answer after {:.0} ms", rival.name, started.as_secs_f64() * 1e3));
    added.told(&format!("  {}: {} added", rival.name, added.times.len()));
    found.told(&format!("  {}: search", rival.name));
    Ok(())
}

/// Where our own side of the comparison keeps its memories.
pub(super) fn place(folder: &Path) -> Result<PathBuf, String> {
    let place = folder.join("ours");
    std::fs::create_dir_all(place.join("data")).map_err(|e| e.to_string())?;
    Ok(place)
}
