//! The audit: whole, without content, kept as long as the settings say.

use super::super::{Action, FactWords, Role, Turn};
use super::{AGENT, Make, OWNER, PERSON, Stage, tiers};

pub(super) fn the_chain_tells_everything_and_no_content(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    let id = tiers(&call).add_episode(Turn::of(Role::User, "zanzibar is far"), OWNER).unwrap().stored.id;
    let token = format!("zebra {}", super::token());
    tiers(&call).add_episode(Turn::of(Role::User, token), OWNER).unwrap();
    let shown = tiers(&call).search("zanzibar", None, 5).unwrap().len();
    let _ = tiers(&call).remember(FactWords::of("The user lives in Zanzibar"), AGENT).unwrap_err();
    tiers(&call).remember(FactWords::of("I like maps"), PERSON).unwrap();
    tiers(&call).delete(&[id], "done with it").unwrap();
    let lines = tiers(&call).audit(100, |_| true).unwrap();
    let actions: Vec<Action> = lines.iter().map(|line| line.action).collect();
    let wanted = [
        Action::MemoryWrite,
        Action::MemoryWrite,
        Action::SecretRedacted,
        Action::MemoryRead,
        Action::ConfirmationRequired,
        Action::PoisoningAttemptBlocked,
        Action::MemoryWrite,
        Action::MemoryDelete,
    ];
    assert_eq!(actions, wanted);
    let text = serde_json::to_string(&lines).unwrap().to_lowercase();
    for word in ["zanzibar", "zebra", "ghp_", "maps"] {
        assert!(!text.contains(word), "`{word}` is content");
    }
    assert!(lines.iter().all(|line| line.user == "ada"));
    assert_eq!(lines[7].metadata.reason.as_deref(), Some("done with it"));
    assert_eq!(lines[3].metadata.count, Some(shown as u64), "a read says how much was shown");
    assert_eq!(tiers(&call).verify_audit().unwrap(), 8);
    assert_eq!(tiers(&stage.of("bob")).verify_audit().unwrap(), 0);
}

pub(super) fn retention_leaves_a_checkpoint(stage: &Stage, _: Make<'_>) {
    let stage = stage.with(serde_json::json!({ "tiers": { "audit_days": 30 } }));
    for day in ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-02-25T00:00:00Z"] {
        tiers(&stage.at("ada", day))
            .add_episode(Turn::of(Role::User, format!("said on {day}")), OWNER)
            .unwrap();
    }
    let call = stage.of("ada");
    assert_eq!(tiers(&call).expire().unwrap().audit_lines, 2);
    let lines = tiers(&call).audit(10, |_| true).unwrap();
    assert_eq!(lines[0].seq, 3);
    assert!(
        lines.iter().any(|line| line.action == Action::AuditCheckpoint && line.metadata.through == Some(2))
    );
    assert_eq!(tiers(&call).verify_audit().unwrap(), lines.len() as u64);
    tiers(&call).add_episode(Turn::of(Role::User, "and on"), OWNER).unwrap();
    assert!(tiers(&call).verify_audit().is_ok());
}
