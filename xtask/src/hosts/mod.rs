//! `hosts`: the published coding agents, run against a scripted model on this machine, with our hooks in their settings.
//!
//! Comes in: names of agents and checks, none for all. Goes out: a line for each thing that was looked at (`pass`, `FAIL`, `skip` with the
//! reason), a table of which agent called which hook, and 1 if something failed. What a failed check left behind stays in its folder. Never
//! here: a request that leaves this machine (a network of its own where the system allows that, refusing proxies elsewhere), except the
//! installation of agents that are not there yet, in the versions of the agents' table.

mod agents;
mod checks;
mod lab;
mod model;
mod screen;

use crate::Outcome;
use crate::run::{output, root};
use agents::Host;
use checks::{CHECKS, Check};
use lab::Lab;
use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says that this process already has a network of its own.
const ALONE: &str = "HEIRLOOM_HOSTS_ALONE";
/// Where agents are kept between runs, if not in the build folder.
const FOLDER: &str = "HEIRLOOM_HOSTS";

/// What was asked for.
struct Wanted {
    hosts: Vec<Host>,
    checks: Vec<&'static Check>,
    model: Option<String>,
    program: Option<PathBuf>,
}

pub(crate) fn run(words: &[String]) -> Outcome {
    let wanted = wanted(words)?;
    let folder = std::env::var_os(FOLDER).map_or_else(|| root().join("target/hosts"), PathBuf::from);
    let mut ready = Vec::new();
    for host in &wanted.hosts {
        match host.install(&folder) {
            Ok(()) => ready.push(*host),
            Err(why) => println!("skip {}: {why}", host.agent.name),
        }
    }
    if std::env::var_os(ALONE).is_none() {
        alone(words)?;
    }
    let program = match &wanted.program {
        Some(program) => std::fs::canonicalize(program).map_err(|e| format!("{}: {e}", program.display()))?,
        None => built()?,
    };
    let has_screen = output(Command::new("tmux").arg("-V")).is_ok();
    let mut failed = 0;
    let mut seen: Vec<(Host, BTreeSet<String>)> = Vec::new();
    for host in ready {
        let mut moments = BTreeSet::new();
        for check in &wanted.checks {
            if !check.is_for(host) {
                continue;
            }
            if !has_screen {
                println!(
                    "skip {} {}: tmux is not installed, and people sit at a terminal",
                    host.agent.name, check.name
                );
                continue;
            }
            failed += one(host, check, &wanted, &folder, &program, &mut moments);
        }
        seen.push((host, moments));
    }
    table(&seen);
    println!("{failed} failed");
    if failed == 0 {
        Ok(())
    } else {
        Err(format!("{failed} findings; what they left lies in {}", folder.join("run").display()))
    }
}

/// Runs a check and says what it found. Returns how many findings failed.
fn one(
    host: Host,
    check: &Check,
    wanted: &Wanted,
    folder: &Path,
    program: &Path,
    moments: &mut BTreeSet<String>,
) -> usize {
    let name = host.agent.name;
    let mut lab = match Lab::new(host, check.name, folder, program, wanted.model.as_deref()) {
        Ok(lab) => lab,
        Err(why) => {
            println!("FAIL {name} {}: the laboratory cannot be made: {why}", check.name);
            return 1;
        }
    };
    if let Err(why) = (check.run)(&mut lab) {
        lab.say(false, &format!("the check itself broke: {why}"));
    }
    moments.extend(lab.moments());
    let failed = lab.findings.iter().filter(|finding| !finding.passed).count();
    for finding in &lab.findings {
        println!("{} {name} {}: {}", if finding.passed { "pass" } else { "FAIL" }, check.name, finding.what);
    }
    lab.close(failed == 0);
    failed
}

fn wanted(words: &[String]) -> Result<Wanted, String> {
    let mut wanted = Wanted { hosts: Vec::new(), checks: Vec::new(), model: None, program: None };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--model" => wanted.model = Some(value()?),
            "--program" => wanted.program = Some(PathBuf::from(value()?)),
            name => match (Host::named(name), CHECKS.iter().find(|check| check.name == name)) {
                (Some(host), _) => wanted.hosts.push(host),
                (None, Some(check)) => wanted.checks.push(check),
                (None, None) => return Err(format!("`{name}` is neither an agent nor a check: {}", known())),
            },
        }
    }
    if wanted.hosts.is_empty() {
        wanted.hosts = Host::all();
    }
    if wanted.checks.is_empty() {
        wanted.checks = CHECKS.iter().collect();
    }
    Ok(wanted)
}

fn known() -> String {
    let hosts: Vec<&str> = Host::all().iter().map(|host| host.agent.name).collect();
    let checks: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    format!("agents are {}; checks are {}", hosts.join(", "), checks.join(", "))
}

/// Becomes the same program in a network that has nothing but a loopback device. Where the system does not allow that, goes on; the agents'
/// environment then names proxies that refuse everything.
fn alone(words: &[String]) -> Outcome {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let enter = |more: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(more).args(["--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]);
        command
    };
    // As root a network is enough; anybody else needs a user namespace around it.
    for more in [&[][..], &["--user", "--map-root-user"]] {
        if output(enter(more).arg("true")).is_ok() {
            let failed = enter(more).arg(&me).arg("hosts").args(words).env(ALONE, "1").exec();
            return Err(format!("unshare: {failed}"));
        }
    }
    println!(
        "note: this system gives no network of its own; proxies that refuse everything keep the agents here"
    );
    Ok(())
}

/// The program as it is built now.
fn built() -> Result<PathBuf, String> {
    output(&mut crate::run::cargo(&["build", "--quiet", "--offline", "--package", "heirloom"]))?;
    Ok(root().join("target/debug/heirloom"))
}

/// Which agent called which hook, for docs/agents.md.
fn table(seen: &[(Host, BTreeSet<String>)]) {
    let moments = heirloom_agents::Moment::ALL.map(heirloom_agents::Moment::name);
    println!("\n| agent | version | {} |", moments.join(" | "));
    println!("|---|---|{}", "---|".repeat(moments.len()));
    for (host, called) in seen {
        let cell = |moment: &&str| match (called.contains(*moment), host.has(moment)) {
            (true, _) => "called",
            (false, true) => "not seen",
            (false, false) => "has none",
        };
        let cells: Vec<&str> = moments.iter().map(cell).collect();
        println!("| {} | {} | {} |", host.agent.title, host.agent.version, cells.join(" | "));
    }
}
