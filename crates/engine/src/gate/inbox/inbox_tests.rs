//! The inbox by itself: keys, forged files, two processes at once.

use super::*;
use serde_json::json;

fn dice() -> Result<[u8; 32]> {
    use std::sync::atomic::{AtomicU8, Ordering};
    static THROWS: AtomicU8 = AtomicU8::new(1);
    Ok([THROWS.fetch_add(1, Ordering::Relaxed); 32])
}

fn inbox(data: &Path, name: &str) -> Inbox {
    Inbox::new(data.join(name).join("inbox"), name.to_owned(), Key::new(data, Some(dice), ""))
        .with_earlier(data.join(name).join("earlier"))
}

fn now() -> Timestamp {
    "2026-11-01T00:00:00Z".parse().unwrap()
}

fn waiting(text: &str) -> Waiting {
    Waiting {
        id: format!("canon:{}", text.len()),
        shelf: "vault".into(),
        channel: Channel::Agent,
        trust: Trust::Low,
        reasons: vec!["from an agent".into()],
        at: time::format(now()),
        draft: json!({ "text": text }),
    }
}

fn file_of(inbox: &Inbox, key: &str) -> PathBuf {
    inbox.get(key, now()).unwrap().file
}

#[test]
fn a_draft_whose_bytes_changed_is_named_and_cannot_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = inbox(folder.path(), "one");
    let key = inbox.put(waiting("tea"), now()).unwrap();
    assert_eq!(inbox.put(waiting("tea"), now()).unwrap(), key, "the same waits once");
    let item = inbox.get(&key, now()).unwrap();
    assert!(item.verified && inbox.unchanged(&item).is_ok());
    let text = std::fs::read_to_string(&item.file).unwrap();
    std::fs::write(&item.file, text.replace("tea", "gin")).unwrap();
    assert_eq!(inbox.unchanged(&item).unwrap_err().code, Code::OccConflict);
    assert_eq!(inbox.get(&key, now()).unwrap_err().code, Code::Damaged);
    assert!(inbox.list(now()).unwrap().is_empty());
    assert_eq!(inbox.broken().unwrap()[0].key, key);
    assert_eq!(inbox.sweep(now(), Some("canon:3")).unwrap(), 1, "forgetting reaches it all the same");
}

#[test]
fn neither_another_drafts_name_nor_another_projects_draft_fits() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (inbox(folder.path(), "one"), inbox(folder.path(), "two"));
    let (tea, coffee) = (one.put(waiting("tea"), now()).unwrap(), one.put(waiting("coffee"), now()).unwrap());
    let (from, to) = (file_of(&one, &coffee), file_of(&one, &tea));
    std::fs::create_dir_all(two.folder()).unwrap();
    std::fs::copy(&from, two.folder().join(from.file_name().unwrap())).unwrap();
    assert_eq!(two.get(&coffee, now()).unwrap_err().code, Code::Damaged);
    std::fs::rename(&from, &to).unwrap();
    assert_eq!(one.get(&tea, now()).unwrap_err().code, Code::Damaged);
    assert_eq!(one.get(&coffee, now()).unwrap_err().code, Code::NotFound);
}

#[test]
fn an_unnamed_draft_is_nobodys_and_its_key_follows_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = inbox(folder.path(), "one");
    let mut forged = serde_json::to_value(waiting("tea")).unwrap();
    forged["key"] = json!("0123456789ab");
    forged["channel"] = json!("person");
    forged["trust"] = json!("high");
    forged["reasons"] = json!(["the owner said so"]);
    forged["verified"] = json!(true);
    forged["at"] = json!("whenever");
    for place in ["earlier/0123456789ab.json", "inbox/0123456789ab.json"] {
        let file = folder.path().join("one").join(place);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, forged.to_string()).unwrap();
    }
    let today = Timestamp::try_from(std::fs::metadata(folder.path()).unwrap().modified().unwrap()).unwrap();
    let items = inbox.list(today).unwrap();
    assert_eq!(items.len(), 2);
    assert_ne!(items[0].key, items[1].key, "each can be named");
    for item in &items {
        assert!(!item.verified && item.key != "0123456789ab");
        assert_eq!((item.channel, item.trust), (Channel::Repository, Trust::Medium));
        assert_eq!(item.reasons, [UNKNOWN]);
    }
    std::fs::write(&items[0].file, forged.to_string().replace("tea", "gin")).unwrap();
    assert_eq!(inbox.get(&items[0].key, today).unwrap_err().code, Code::NotFound);
    std::fs::write(&items[1].file, "{").unwrap();
    assert_eq!(inbox.broken().unwrap().len(), 1, "what cannot be read is named");
}

#[test]
fn two_that_need_the_key_at_once_get_the_same_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let macs: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| Key::new(&data, Some(dice), "").mac("one", b"bytes").unwrap()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(macs.iter().all(|mac| *mac == macs[0]), "{macs:?}");
    let mode = std::fs::metadata(data.join(key::FILE)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::write(data.join(key::FILE), "").unwrap();
    assert_eq!(Key::new(&data, Some(dice), "").mac("one", b"bytes").unwrap_err().code, Code::Damaged);
}
