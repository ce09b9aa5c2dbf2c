//! `hosts`: the published coding agents, run against a scripted model on this machine, with our hooks in their settings.
//!
//! Comes in: names of agents and checks, none for all; `--quick` for those that CI has the time for. Goes out: a line for each thing that was looked at (`pass`, `FAIL`, `skip` with the
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
use std::time::{Duration, Instant};

/// Says that this process already has a network of its own, and how many seconds went before.
const ALONE: &str = "HEIRLOOM_HOSTS_ALONE";
/// Where agents are kept between runs, if not in the build folder.
const FOLDER: &str = "HEIRLOOM_HOSTS";

/// What was asked for.
struct Wanted {
    hosts: Vec<Host>,
    checks: Vec<&'static Check>,
    model: Option<String>,
    program: Option<PathBuf>,
    /// Only the quick half, and no longer than [`QUICK`].
    quick: bool,
}

/// How long the quick half may take, installations included; what it does not come to is named.
const QUICK: Duration = Duration::from_secs(220);

pub(crate) fn run(words: &[String]) -> Outcome {
    let began = Instant::now();
    let wanted = wanted(words)?;
    if !wanted.quick || std::env::var_os(ALONE).is_some() {
        return all(&wanted, words, began);
    }
    // Without npm or tmux there is nothing to run, and that is no failure.
    for needed in ["npm", "node", "tmux", "git"] {
        if !crate::run::is_there(needed) {
            println!("skip all agents: `{needed}` is not installed");
            return Ok(());
        }
    }
    all(&wanted, words, began)
}

fn all(wanted: &Wanted, words: &[String], began: Instant) -> Outcome {
    let folder = std::env::var_os(FOLDER).map_or_else(|| root().join("target/hosts"), PathBuf::from);
    let mut ready = Vec::new();
    for host in &wanted.hosts {
        if wanted.quick && began.elapsed() > QUICK / 2 {
            println!("skip {}: installing the others took {} s", host.agent.name, began.elapsed().as_secs());
            continue;
        }
        match host.install(&folder) {
            Ok(()) => ready.push(*host),
            Err(why) => println!("skip {}: {why}", host.agent.name),
        }
    }
    if std::env::var_os(ALONE).is_none() {
        alone(words, began.elapsed())?;
    }
    let program = match &wanted.program {
        Some(program) => std::fs::canonicalize(program).map_err(|e| format!("{}: {e}", program.display()))?,
        None => built()?,
    };
    let spent: u64 = std::env::var(ALONE).ok().and_then(|spent| spent.parse().ok()).unwrap_or_default();
    let is_late = || wanted.quick && began.elapsed() + Duration::from_secs(spent) > QUICK;
    let has_screen = output(Command::new("tmux").arg("-V")).is_ok();
    let mut failed = 0;
    let mut seen: Vec<(Host, BTreeSet<String>)> = ready.iter().map(|host| (*host, BTreeSet::new())).collect();
    for (host, model, check) in planned(&ready, wanted) {
        let name = host.agent.name;
        if !has_screen {
            println!("skip {name} {}: tmux is not installed, and people sit at a terminal", check.name);
        } else if is_late() {
            println!("skip {name} {}: the time of the quick half is over", check.name);
        } else if let Some((_, moments)) = seen.iter_mut().find(|(of, _)| of.is(name)) {
            let mut bad = one(host, check, model.as_deref(), &folder, &program, moments);
            // Beside other work an agent's interface may be slower than it is waited for; what is broken is broken twice.
            if bad > 0 && wanted.quick {
                println!("note {name} {}: once more", check.name);
                bad = one(host, check, model.as_deref(), &folder, &program, moments);
            }
            failed += bad;
        }
    }
    table(&seen);
    println!("{failed} failed, after {} s", began.elapsed().as_secs() + spent);
    if failed == 0 {
        Ok(())
    } else {
        Err(format!("{failed} findings; what they left lies in {}", folder.join("run").display()))
    }
}

/// What is run, in order. The quick half goes check by check, so that every agent has its turn before the time is over.
fn planned(ready: &[Host], wanted: &Wanted) -> Vec<(Host, Option<String>, &'static Check)> {
    let mut all = Vec::new();
    for &host in ready {
        let named = wanted.model.as_deref().filter(|_| host.is("codex"));
        let models = named.map_or_else(|| host.models().to_vec(), |name| vec![Some(name)]);
        for (at, model) in models.into_iter().enumerate() {
            for (order, check) in wanted.checks.iter().enumerate() {
                if check.is_for(host, at == 0) {
                    all.push((order, (host, model.map(str::to_owned), *check)));
                }
            }
        }
    }
    if wanted.quick {
        // Stable: agents keep their order.
        all.sort_by_key(|(order, _)| *order);
    }
    all.into_iter().map(|(_, planned)| planned).collect()
}

/// Runs a check and says what it found. Returns how many findings failed.
fn one(
    host: Host,
    check: &Check,
    model: Option<&str>,
    folder: &Path,
    program: &Path,
    moments: &mut BTreeSet<String>,
) -> usize {
    let name =
        model.map_or_else(|| host.agent.name.to_owned(), |model| format!("{} ({model})", host.agent.name));
    let mut lab = match Lab::new(host, check.name, folder, program, model) {
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
    let mut wanted =
        Wanted { hosts: Vec::new(), checks: Vec::new(), model: None, program: None, quick: false };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--quick" => wanted.quick = true,
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
        wanted.checks = CHECKS.iter().filter(|check| check.quick || !wanted.quick).collect();
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
fn alone(words: &[String], spent: Duration) -> Outcome {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let enter = |more: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(more).args(["--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]);
        command
    };
    // As root a network is enough; anybody else needs a user namespace around it.
    for more in [&[][..], &["--user", "--map-root-user"]] {
        if output(enter(more).arg("true")).is_ok() {
            let failed =
                enter(more).arg(&me).arg("hosts").args(words).env(ALONE, spent.as_secs().to_string()).exec();
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
