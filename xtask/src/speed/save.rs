//! Four processes saving at once beside a bare fsync.

use super::texts::{Draw, memory, words};
use super::{OWNER, Place, middle, said, timed};
use crate::Outcome;
use heirloom_engine::index::embed::builtin::Builtin;
use heirloom_engine::index::{Change, Index};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Memories saved one by one by each of four processes.
const SAVES: usize = 50;

/// One process saving memories one by one, each in a transaction of its own.
pub(super) fn alone(place: &Place, name: &str) -> Outcome {
    let words = words()?;
    let model = Builtin::open().map_err(said)?;
    let mut index = Index::open(&place.index()).map_err(said)?;
    let mut draw = Draw(name.bytes().fold(17, |h, b| h * 31 + u64::from(b)));
    let mut times = Vec::new();
    for number in 0..SAVES {
        let mut document = memory(number, &words, &mut draw);
        document.id = format!("lesson:{name}-{number}");
        times.push(timed(|| index.apply(OWNER, &[Change::Put(document)], Some(&model), &[]).map_err(said))?);
    }
    println!("{:.3}", middle(&mut times));
    Ok(())
}

pub(super) fn run(place: &Place) -> Outcome {
    let mut bare = Vec::new();
    let mut file = std::fs::File::create(place.0.join("bare")).map_err(said)?;
    for _ in 0..SAVES {
        bare.push(timed(|| file.write_all(&[7; 512]).and_then(|()| file.sync_all()).map_err(said))?);
    }
    let start = |name: &&str| {
        let mut command = Command::new(std::env::current_exe().map_err(said)?);
        command.args(["speed", "save"]).arg(&place.0).arg(name);
        command.stdout(Stdio::piped()).spawn().map_err(said)
    };
    let writers = ["a", "b", "c", "d"].iter().map(start).collect::<Result<Vec<_>, String>>()?;
    let mut p50 = Vec::new();
    let mut failed = 0;
    for writer in writers {
        let output = writer.wait_with_output().map_err(said)?;
        match String::from_utf8_lossy(&output.stdout).trim().parse::<f64>() {
            Ok(time) if output.status.success() => p50.push(time),
            _ => failed += 1,
        }
    }
    let (bare, saved) = (middle(&mut bare), middle(&mut p50));
    println!(
        "four processes saving at once, {failed} failed: p50 {saved:.2} ms, a bare fsync {bare:.2} ms, ratio {:.1}",
        saved / bare
    );
    Ok(())
}
