//! One target under libFuzzer, named by the last argument, behind `-ignore_remaining_args=1`.
//!
//! Comes in: whatever libFuzzer makes up. Goes out: nothing, or a crash that libFuzzer keeps as a file. Started by `cargo xtask fuzz`.

#![no_main]
#![allow(clippy::expect_used, reason = "a target that does not exist is the end of a run")]

use std::sync::OnceLock;

static TARGET: OnceLock<heirloom_fuzz::Run> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let run = TARGET.get_or_init(|| {
        let name = std::env::args().last().unwrap_or_default();
        heirloom_fuzz::named(&name).expect("the last argument names a target").run
    });
    run(bytes);
});
