use super::*;

#[test]
fn what_waits_is_handed_out_once() {
    let data = tempfile::tempdir().unwrap();
    let now = now();
    let found = vec![Found { kind: "decision".into(), context: "We take Redis".into() }];
    assert!(take(data.path(), now).is_empty());
    keep(data.path(), Some("a"), &found, now).unwrap();
    keep(data.path(), Some("a"), &found, now).unwrap();
    assert_eq!(take(data.path(), now), found);
    assert!(take(data.path(), now).is_empty());
}

#[test]
fn a_machine_that_only_runs_scripts_keeps_no_more_than_twenty_sessions() {
    let data = tempfile::tempdir().unwrap();
    let now = now();
    for number in 0..30 {
        let found = [Found { kind: "decision".into(), context: number.to_string() }];
        keep(data.path(), Some(&number.to_string()), &found, now).unwrap();
    }
    assert_eq!(take(data.path(), now).len(), MOST);
}

/// Files are as old as the system says.
#[allow(clippy::disallowed_methods, reason = "tests are where time comes from")]
fn now() -> Timestamp {
    Timestamp::now()
}
