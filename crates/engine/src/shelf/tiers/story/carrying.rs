//! Archives: there and back.

use super::super::{FactWords, ImportRules, Role, Turn, Wanted, Whose, put_user};
use super::{Make, OWNER, PERSON, Stage, tiers};
use heirloom_core::{Code, Trust};
use std::io::Cursor;
use std::sync::Arc;

pub(super) fn an_archive_brings_everything_back_once(stage: &Stage, make: Make<'_>) {
    let call = stage.person("ada");
    put_user(stage.store.as_ref(), tiers(&call).who(), "bob", call.project().world()).unwrap();
    for n in 0..1_005 {
        tiers(&call).add_episode(Turn::of(Role::User, format!("turn number {n}")), OWNER).unwrap();
        if n == 3 {
            tiers(&call).remember(FactWords::of("I prefer trains"), PERSON).unwrap();
        }
    }
    let old = tiers(&call).search("prefer trains", None, 1).unwrap()[0].memory.id.clone();
    tiers(&call).reword(&old, "I prefer night trains", PERSON).unwrap();
    tiers(&stage.of("bob")).add_episode(Turn::of(Role::User, "bob's turn"), OWNER).unwrap();
    let archive = |everybody| {
        let mut bytes = Vec::new();
        let carried = tiers(&call)
            .export(if everybody { Whose::Everybody } else { Whose::Own }, &mut bytes, &mut |_| {})
            .unwrap();
        (bytes, carried)
    };
    let (mine, carried) = archive(false);
    assert_eq!((carried.memories, carried.chunks), (1_007, 2));
    let all = |stage: &Stage| {
        let call = stage.of("ada");
        tiers(&call)
            .store()
            .page(tiers(&call).who(), &Wanted { limit: 5_000, ..Wanted::default() })
            .unwrap()
            .memories
    };
    let other = Stage { store: make(), folder: stage.folder.clone(), settings: stage.settings.clone() };
    let there = other.person("ada");
    let bring = |bytes: &[u8], rules| tiers(&there).import(&mut Cursor::new(bytes), rules, &mut |_| {});
    let dry = bring(&mine, ImportRules { dry_run: true, ..ImportRules::default() }).unwrap();
    assert_eq!((dry.added, all(&other).len()), (1_007, 0));
    // An archive that was cut in its second chunk gives the first one, and going on gives the rest.
    let cut = mine.len() - 2_000;
    assert_eq!(bring(&mine[..cut], ImportRules::default()).unwrap_err().code, Code::Input);
    assert_eq!(all(&other).len(), 1_000);
    let rest = bring(&mine, ImportRules::default()).unwrap();
    assert_eq!((rest.added, rest.known, rest.unsealed_chunks), (7, 1_000, 0));
    assert_eq!(all(&other), all(stage), "the same memories, the same ids, the same trust");
    assert_eq!(bring(&mine, ImportRules::default()).unwrap().added, 0, "twice adds nothing");
    // A changed byte costs the chunk it is in.
    let mut altered = mine.clone();
    let at = altered.windows(14).position(|w| w == b"turn number 77").unwrap();
    altered[at] = b'T';
    assert_eq!(bring(&altered, ImportRules::default()).unwrap_err().code, Code::Input);
    // Without a seal nobody vouches: turns count as an agent's words, facts wait.
    let stranger_folder = stage.folder.join("stranger");
    let stranger = Stage { store: make(), folder: stranger_folder, settings: stage.settings.clone() };
    let engine2 = stranger.of("ada");
    let brought =
        tiers(&engine2).import(&mut Cursor::new(&mine), ImportRules::default(), &mut |_| {}).unwrap();
    assert_eq!((brought.added, brought.waiting, brought.unsealed_chunks), (1_005, 2, 2));
    assert!(all(&stranger).iter().all(|m| m.trust == Trust::Low));
    // Another user's memories are refused, unless the keeper reads for everybody.
    let (both, _) = archive(true);
    assert_eq!(bring(&both, ImportRules::default()).unwrap_err().code, Code::Security);
    let everybody = ImportRules { everybody: true, ..ImportRules::default() };
    assert_eq!(bring(&both, everybody).unwrap().added, 1);
    // What was forgotten here stays so.
    let gone = all(&other)[0].id.clone();
    tiers(&there).delete(std::slice::from_ref(&gone), "test").unwrap();
    assert_eq!(bring(&mine, ImportRules::default()).unwrap().removed, 1);
    let even = ImportRules { even_removed: true, ..ImportRules::default() };
    assert_eq!(bring(&mine, even).unwrap().added, 1);
    drop(Arc::clone(&other.store));
}
