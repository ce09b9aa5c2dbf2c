//! Benchmarks with ratios: the same moment, the same machine, one after the other in turn.
//!
//! Comes in: contenders, the yardstick first. Goes out: a table. Never here: a figure from another day, or a verdict; whoever reads it knows
//! what else the machine was doing.

pub(crate) mod installed;

pub(crate) mod gate;
pub(crate) mod hooks;
pub(crate) mod hostile;
pub(crate) mod index;
pub(crate) mod start;
pub(crate) mod tiers;
pub(crate) mod upkeep;
pub(crate) mod vault;
pub(crate) mod write;

use crate::report;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Something that is timed.
struct Contender<'a> {
    name: String,
    run: Box<dyn FnMut() -> Result<(), String> + 'a>,
}

impl<'a> Contender<'a> {
    fn new(name: impl Into<String>, run: impl FnMut() -> Result<(), String> + 'a) -> Contender<'a> {
        Contender { name: name.into(), run: Box::new(run) }
    }
}

/// Runs all contenders in turn, so that whatever else the machine does meets all of them, and prints medians, minima and ratios to the
/// first one.
fn side_by_side(rounds: usize, contenders: &mut [Contender<'_>]) -> Result<(), String> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..=rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (contender.run)()?;
            // The first round warms the caches.
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    let middle = |times: &[Duration]| times[times.len() / 2].as_secs_f64() * 1e3;
    let least = |times: &[Duration]| times[0].as_secs_f64() * 1e3;
    let widest = contenders.iter().map(|c| c.name.len()).max().unwrap_or_default();
    report::line(&format!(
        "{:widest$}  {:>9}  {:>9}  {:>12}  {:>9}",
        "", "median", "least", "median ratio", "least"
    ));
    for (contender, list) in contenders.iter().zip(&times) {
        let (median, min) = (middle(list), least(list));
        report::line(&format!(
            "{:widest$}  {median:>6.2} ms  {min:>6.2} ms  {:>12.2}  {:>9.2}",
            contender.name,
            median / middle(&times[0]),
            min / least(&times[0]),
        ));
    }
    Ok(())
}

/// Runs a program to its end; what it prints is not looked at.
fn quietly(command: &mut Command) -> Result<(), String> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{:?} ended with {status}", command.get_program())),
        Err(e) => Err(format!("{:?} could not be started: {e}", command.get_program())),
    }
}

fn io(what: &str) -> impl Fn(std::io::Error) -> String + '_ {
    move |e| format!("{what}: {e}")
}
