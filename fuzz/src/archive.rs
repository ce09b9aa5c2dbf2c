//! Archives of turns and facts, from whoever made them.

use heirloom_core::hash;
use heirloom_core::settings;
use heirloom_core::time;
use heirloom_engine::shelf::tiers::{Access, ImportRules, SqliteStore, Tiers, UserContext};
use heirloom_engine::{Call, Project, World};
use serde_json::json;
use std::sync::Arc;

const RULES: ImportRules =
    ImportRules { dry_run: true, everybody: false, person: false, even_removed: false };

struct Desk {
    engine: Call,
    _folder: tempfile::TempDir,
}

thread_local! {
    static DESK: Option<Desk> = desk();
}

fn desk() -> Option<Desk> {
    let folder = tempfile::tempdir().ok()?;
    let data = folder.path().join("data");
    let world = World {
        now: time::parse("2026-03-01T12:00:00Z")?,
        data: data.clone(),
        nonce: "0123456789abcdef0123456789abcdef".to_owned(),
        user: "ada".to_owned(),
    };
    let who = UserContext::by_account(&world).ok()?;
    let project = Project::new(folder.path(), &folder.path().join("memory"), world);
    let store = Arc::new(SqliteStore::at(&data.join("tiers")));
    let access = Access::new(store, who, &data.join("tiers"));
    let engine = Call::new(project, settings::load(&[]).settings).with_tiers(access);
    Some(Desk { engine, _folder: folder })
}

/// An archive is read as it is, and once more with everything around its memories made right, since nobody guesses a checksum.
pub(crate) fn archive(bytes: &[u8]) {
    DESK.with(|desk| {
        let Some(desk) = desk else { return };
        let Ok(tiers) = desk.engine.tiers() else { return };
        let _ = tiers.import(&mut &*bytes, RULES, &mut |_| {});
        let lines: Vec<&[u8]> =
            bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).take(64).collect();
        whole(&tiers, &lines);
    });
}

fn whole(tiers: &Tiers<'_>, lines: &[&[u8]]) {
    let head = json!({ "archive": "heirloom-tiers", "version": 1 }).to_string() + "\n";
    let mut text = head.into_bytes();
    for line in lines {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    let sum = hash::sha256(&text);
    text.extend_from_slice(
        (json!({ "chunk": 1, "count": lines.len(), "sha256": sum }).to_string() + "\n").as_bytes(),
    );
    let manifest = json!({ "manifest": { "memories": lines.len(), "chunks": 1, "sha256": sum } });
    text.extend_from_slice((manifest.to_string() + "\n").as_bytes());
    if let Ok(brought) = tiers.import(&mut text.as_slice(), RULES, &mut |_| {}) {
        assert_eq!(brought.unsealed_chunks, 1, "a seal was guessed");
    }
}
