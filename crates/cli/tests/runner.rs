//! Tests of the command line: the real binary, in a world of its own.
//!
//! Comes in: arguments, files, kills, a second process, a full disk. Goes out: exit codes, streams and what is on disk afterwards. One
//! binary, so that it links once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test stops at the first thing that is not as it should be, and prepares the environment of the process it starts"
)]

mod agents;
mod anchors;
mod answers;
mod answers_upkeep;
mod answers_writes;
mod attacks_doors;
mod attacks_floods;
mod attacks_git;
mod attacks_paths;
mod attacks_review;
mod attacks_settings;
mod attacks_steer;
mod attacks_text;
mod attacks_trust;
mod attacks_users;
mod authority;
mod authority_writes;
mod bad_input;
#[cfg(feature = "server")]
mod browser;
mod case;
mod commands;
mod concurrency;
mod config;
mod conformance;
mod crash;
mod daily;
mod deviations;
mod disk;
#[cfg(feature = "server")]
mod doors;
mod echo;
mod endpoint;
mod env;
mod external;
mod first_day;
mod forget;
mod forget_ids;
mod git;
mod hook_case;
mod hook_deviations;
mod hook_installed;
mod hook_seen;
mod hook_sessions;
mod hooks;
mod hostile;
mod hostile_clone;
#[cfg(feature = "server")]
mod http;
#[cfg(feature = "server")]
mod http_hostile;
#[cfg(feature = "server")]
mod http_pages;
#[cfg(feature = "server")]
mod http_verbs;
mod hybrid;
mod import_samples;
mod index_laws;
#[cfg(feature = "server")]
mod items;
mod lessons;
mod lifecycle;
mod log;
#[cfg(feature = "server")]
mod mcp;
#[cfg(feature = "server")]
mod mem0;
mod note_rules;
mod older_texts;
mod opens_0_1;
#[cfg(feature = "server")]
mod page;
#[cfg(feature = "server")]
mod page_attacks;
#[cfg(feature = "server")]
mod page_screens;
#[cfg(feature = "server")]
mod page_team;
mod past_the_gate;
mod person;
mod pick;
mod pin;
mod places;
mod pre_commit;
mod progress;
mod record;
mod record_rules;
mod screens;
#[allow(dead_code, reason = "the tests of the database use all of it")]
#[path = "../../postgres/tests/server.rs"]
mod server;
mod shelves;
mod shelves_life;
mod shelves_merge;
mod shelves_transfer;
mod snapshots;
mod store_scan;
mod threads;
mod tiers;
mod tiers_life;
mod tiers_postgres;
mod tiers_rules;
mod tokens;
mod undo;
mod vault_rules;

#[test]
fn no_test_file_is_forgotten() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let declared = include_str!("runner.rs");
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or_else(|| panic!("{name} is no module"));
        assert!(module == "runner" || declared.contains(&format!("mod {module};\n")), "{name} is never run");
    }
}
