//! Commands that take long say so: on a terminal after half a second, elsewhere after two; hooks and the record tools never.
//!
//! Comes in: commands that wait for their input. Goes out: what stands on standard error meanwhile.

use crate::env::{HEIRLOOM, TestEnv};
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

/// What a command says that gets its input only after a while.
fn waited(env: &TestEnv, args: &[&str], wait: Duration) -> String {
    let mut command = env.command(HEIRLOOM);
    let mut child = command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(wait);
    let _ = child.stdin.take().unwrap().write_all(b"{}\n");
    String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap()
}

#[test]
fn without_a_terminal_a_command_says_after_two_seconds_that_it_still_works_and_again_at_its_end() {
    let mut env = TestEnv::ready();
    env.set("HEIRLOOM_QUIET", "");
    let said = waited(&env, &["import", "-"], Duration::from_millis(2_600));
    assert!(said.contains("heirloom import: still working"), "{said}");
    assert!(said.contains("heirloom import: ended after"), "{said}");
    let quick = waited(&env, &["import", "-"], Duration::from_millis(100));
    assert!(!quick.contains("still working") && !quick.contains("ended after"), "{quick}");
    let hook = waited(&env, &["hook", "prompt"], Duration::from_millis(2_600));
    assert!(!hook.contains("still working"), "{hook}");
}
