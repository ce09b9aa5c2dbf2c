//! `fuzz`: the targets of `fuzz/` under libFuzzer, on the stable compiler.
//!
//! Comes in: names of targets (none is all), seconds for each. Goes out: exit code 0 if nothing crashed, hung or took more than [`MEMORY`]
//! megabytes; what was found lies in `target/fuzz/found`. The kept inputs in `fuzz/corpus` are read and never changed; what libFuzzer adds
//! stays in `target/fuzz/corpus` and is built upon by the next run. Never here: a sanitizer, which needs another compiler.

use crate::{Outcome, run, workspace};
use std::path::Path;
use std::process::Command;

/// Seconds for each target, if nobody says otherwise.
const SECONDS: u32 = 180;
/// Seconds for each target in `ci`.
const IN_CI: u32 = 4;
/// Megabytes a target may take, libFuzzer's own included.
const MEMORY: u32 = 200;
/// Seconds one input may take; most take microseconds.
const HANG: u32 = 10;
/// The longest input that is made up. Longer ones are slower, not stranger; what grows too fast is a property test's business.
const LONGEST: u32 = 16 << 10;

/// Counters that libFuzzer follows: the flags that `cargo fuzz` gives the compiler, all of them known to the stable one.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// Where everything of this task lies.
const FOLDER: &str = "target/fuzz";

pub(crate) fn run(words: &[String]) -> Outcome {
    let (mut names, mut seconds) = (Vec::new(), SECONDS);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => {
                let given = words.next().and_then(|number| number.parse().ok());
                seconds = given.ok_or("--seconds needs a number")?;
            }
            name if heirloom_fuzz::named(name).is_some() => names.push(name),
            other => {
                let known: Vec<&str> = heirloom_fuzz::TARGETS.iter().map(|target| target.name).collect();
                return Err(format!("there is no target `{other}`; name some of {}", known.join(", ")));
            }
        }
    }
    fuzz(&names, seconds)
}

/// Every target for a few seconds.
pub(crate) fn in_ci() -> Outcome {
    fuzz(&[], IN_CI)
}

fn fuzz(names: &[&str], seconds: u32) -> Outcome {
    let program = build()?;
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let mut bad = Vec::new();
    for target in heirloom_fuzz::TARGETS.iter().filter(|target| wanted(target.name)) {
        run::heading(&format!("{}: {} ({seconds} s)", target.name, target.reads));
        if let Err(why) = one(&program, target.name, seconds) {
            eprintln!("error: {why}");
            bad.push(target.name);
        }
    }
    if bad.is_empty() { Ok(()) } else { Err(format!("fuzz: {}; see {FOLDER}/found", bad.join(", "))) }
}

/// Builds the program with counters in our own code and in what it is made of, but not in build scripts.
fn build() -> Result<std::path::PathBuf, String> {
    let about = run::output(Command::new("rustc").arg("-vV"))?;
    let host =
        about.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not name its host")?;
    let args =
        ["build", "--quiet", "--package", "heirloom-fuzz", "--features", "libfuzzer", "--profile", "fuzz"];
    let mut cargo = run::cargo(&args);
    cargo.args(["--target", host, "--target-dir", FOLDER]).env("RUSTFLAGS", COVERAGE);
    run::run(&mut cargo)?;
    Ok(workspace::root().join(FOLDER).join(host).join("fuzz/heirloom-fuzz"))
}

fn one(program: &Path, target: &str, seconds: u32) -> Outcome {
    let root = workspace::root();
    let (grown, found) = (root.join(FOLDER).join("corpus").join(target), root.join(FOLDER).join("found"));
    for folder in [&grown, &found] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let mut command = Command::new(program);
    command.args([&grown, &root.join("fuzz/corpus").join(target)]);
    command.args([
        format!("-max_total_time={seconds}"),
        format!("-rss_limit_mb={MEMORY}"),
        format!("-timeout={HANG}"),
        format!("-max_len={LONGEST}"),
        format!("-artifact_prefix={}/{target}-", found.display()),
        "-print_final_stats=1".to_owned(),
        "-verbosity=0".to_owned(),
        "-print_funcs=0".to_owned(),
        "-ignore_remaining_args=1".to_owned(),
        target.to_owned(),
    ]);
    run::run(&mut command)
}
