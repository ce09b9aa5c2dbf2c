//! The stress of the vault, in short, and in full for whoever asks for it.

use std::process::Command;

fn eight_processes(seconds: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["stress", "vault", seconds]).output();
    let Ok(output) = output else { panic!("cannot be started: {output:?}") };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("no torn line"), "{said}");
}

#[test]
fn eight_processes_on_one_vault_lose_nothing() {
    eight_processes("1.5");
}

#[test]
#[ignore = "takes half a minute"]
fn eight_processes_on_one_vault_lose_nothing_for_half_a_minute() {
    eight_processes("30");
}
