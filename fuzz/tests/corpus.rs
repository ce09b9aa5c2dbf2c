//! Every kept input through its target, with every test run: what was found once stays found.

#![allow(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it should be")]

use heirloom_fuzz::TARGETS;
use std::path::PathBuf;

fn kept(target: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_kept_input_passes_its_target() {
    for target in TARGETS {
        let inputs = kept(target.name);
        assert!(!inputs.is_empty(), "{} has no corpus", target.name);
        for input in inputs {
            (target.run)(&std::fs::read(&input).unwrap());
        }
    }
}

#[test]
fn every_kept_input_passes_every_other_target_too() {
    for target in TARGETS {
        for other in TARGETS.iter().filter(|other| other.name != target.name) {
            for input in kept(other.name).into_iter().take(8) {
                (target.run)(&std::fs::read(&input).unwrap());
            }
        }
    }
}
