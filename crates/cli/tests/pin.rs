//! The PIN, and the file it is switched on in.
//!
//! Comes in: what is typed at a terminal. Goes out: what weighs is done only after the PIN; settings that others could have written loosen nothing.

use crate::env::{HEIRLOOM, TestEnv, finish};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// Somebody who types nothing and leaves.
const LEAVES: &str = "\u{4}";

fn own_settings(env: &TestEnv) -> PathBuf {
    env.home().join("config/heirloom/config.json")
}

fn mode(path: &PathBuf) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn with_a_pin_a_terminal_alone_neither_removes_nor_accepts_nor_loosens() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because we need jsonb"], "").ok();
    env.run(&["add", "constraint", "Never push on Fridays"]).ok();
    env.run(&["config", "pin"]).fails_with("NEEDS_PERSON", 1);
    env.at_terminal(&["config", "set", "--user", "person.check", "pin"], "").fails_with("CONFIG_ERROR", 1);
    env.at_terminal(&["config", "pin"], "4711\n4712\n").fails_with("USAGE", 2);
    env.at_terminal(&["config", "pin"], "4711\n4711\n").ok();
    assert_eq!(mode(&env.home().join("data/heirloom/pin.json")), 0o600);
    env.at_terminal(&["user", "add", "anna"], "").ok();
    for args in [
        &["forget", "use-postgresql", "--yes"][..],
        &["clear", "all", "--yes"],
        &["compact"],
        &["review", "accept", "--all"],
        &["trust", "use-postgresql"],
        &["config", "set", "--user", "gate.profile", "seed"],
        &["config", "set", "--user", "person.check", "off"],
        &["config", "unset", "--user", "person.check"],
        &["config", "set", "auto_commit", "true"],
        &["config", "pin", "--remove"],
        &["user", "token", "anna", "--scope", "read,delete"],
        &["--set", "person.check=off", "forget", "use-postgresql", "--yes"],
    ] {
        let left = env.at_terminal(args, LEAVES);
        left.fails_with("NEEDS_PERSON", 1);
        assert!(left.stderr.contains("PIN:"), "{args:?}: {left:?}");
    }
    // For a call a terminal loosens nothing any more.
    let loose = env.at_terminal(&["--set", "gate.profile=seed", "config", "get", "gate.profile"], "").ok();
    assert!(loose.stdout.contains("standard"), "{loose:?}");
    // What does not weigh asks for nothing, and what is no person's is refused as before.
    env.at_terminal(&["edit", "use-postgresql", "--tag", "database"], "").ok();
    env.run(&["forget", "use-postgresql", "--yes"]).fails_with("NEEDS_PERSON", 1);
    env.at_terminal(&["forget", "use-postgresql", "--yes"], "0000\n4711\n").ok();
    let made = env
        .at_terminal(&["user", "token", "anna", "--scope", "read,write,delete", "--json"], "4711\n")
        .ok()
        .json();
    let mut script = env.command(HEIRLOOM);
    script.env("HEIRLOOM_TOKEN", made["token"].as_str().unwrap());
    finish(script.args(["forget", "never-push-on-fridays", "--yes"])).ok();
    // Changed with the old one, and taken away with the new one.
    env.at_terminal(&["config", "pin"], "4711\nlonger pin\nlonger pin\n").ok();
    env.at_terminal(&["config", "pin", "--remove"], "longer pin\n").ok();
    env.at_terminal(&["clear", "all", "--yes"], "").ok();
}

#[test]
fn five_wrong_pins_make_a_pause_that_outlives_the_process() {
    let env = TestEnv::ready();
    env.at_terminal(&["config", "pin"], "4711\n4711\n").ok();
    let wrong = env.at_terminal(&["clear", "all", "--yes"], "1\n2\n3\n4\n5\n");
    wrong.fails_with("NEEDS_PERSON", 1);
    assert!(wrong.stderr.contains("too many wrong PINs"), "{wrong:?}");
    for args in [&["clear", "all", "--yes"][..], &["config", "pin"]] {
        let paused = env.at_terminal(args, "4711\n");
        paused.fails_with("NEEDS_PERSON", 1);
        assert!(paused.stderr.contains("try again after"), "{paused:?}");
    }
}

#[test]
fn the_users_own_settings_are_private_and_count_only_if_nobody_else_could_write_them() {
    let env = TestEnv::ready();
    env.at_terminal(&["config", "set", "--user", "gate.profile", "seed"], "").ok();
    let own = own_settings(&env);
    assert_eq!(mode(&own), 0o600);
    // Version 0.1 wrote it for everybody to read; that goes on counting, and the next change makes it private.
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(env.run(&["config", "get", "gate.profile"]).ok().stdout.contains("seed"));
    env.run(&["config", "set", "--user", "notes.max_keywords", "3"]).ok();
    assert_eq!(mode(&own), 0o600);
    for shared in [0o664, 0o666, 0o602] {
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(shared)).unwrap();
        assert!(env.run(&["config", "get", "gate.profile"]).ok().stdout.contains("standard"));
        assert!(
            env.run(&["config", "get", "notes.max_keywords"]).ok().stdout.contains('3'),
            "the rest counts"
        );
        let told = env.run(&["config", "list"]).ok().stderr;
        assert!(told.contains("others may write to it") && told.contains("gate.profile"), "{told}");
        assert!(told.contains(own.to_str().unwrap()), "{told}");
    }
}

#[test]
fn a_file_that_others_could_write_does_not_switch_the_pin_off() {
    let env = TestEnv::ready();
    env.at_terminal(&["config", "pin"], "4711\n4711\n").ok();
    std::fs::set_permissions(own_settings(&env), std::fs::Permissions::from_mode(0o666)).unwrap();
    env.at_terminal(&["clear", "all", "--yes"], LEAVES).fails_with("NEEDS_PERSON", 1);
    env.at_terminal(&["clear", "all", "--yes"], "4711\n").ok();
}
