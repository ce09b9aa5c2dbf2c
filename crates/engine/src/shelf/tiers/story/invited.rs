//! Invitations and PINs, alike in every store.

use super::{Make, Stage};
use crate::pin::Answer;
use crate::shelf::tiers::{Account, Invite, Taken, Terms, UserContext, give_token, invite_hash, put_user};
use heirloom_core::Code;

pub(super) fn a_link_sets_a_pin_once_and_five_wrong_tries_make_a_pause(stage: &Stage, _other: Make<'_>) {
    let now = stage.today();
    let noon = "2026-03-01T12:00:00Z";
    let keeper = stage.context("keeper", noon);
    let world = stage.world("keeper", noon);
    let store = stage.store.as_ref();
    let mut holders = Vec::new();
    for user in ["ana", "bert"] {
        let _: (Account, bool) = put_user(store, &keeper, user, &world).unwrap();
        let given = format!("hlm_of_{user}");
        give_token(store, &keeper, user, &given, &Terms::default(), &world).unwrap();
        holders.push(UserContext::by_token(store, &given, super::moment(noon)).unwrap());
    }
    let (ana, bert) = (&holders[0], &holders[1]);
    let invite = |secret: &str| Invite::of(secret, "ana", now, 24).unwrap();
    assert!(!store.has_pin(ana).unwrap());
    store.put_invite(&keeper, &invite("first")).unwrap();
    store.put_invite(&keeper, &invite("second")).unwrap();
    let take =
        |who: &UserContext, secret: &str| store.take_invite(who, &invite_hash(secret), "4711", &[7; 32], now);
    assert_eq!(take(ana, "first").unwrap(), Taken::Unknown, "a newer link took its place");
    assert_eq!(take(bert, "second").unwrap(), Taken::Foreign);
    assert_eq!(
        store.take_invite(ana, &invite_hash("second"), "1", &[7; 32], now).unwrap_err().code,
        Code::Usage
    );
    assert_eq!(take(ana, "second").unwrap(), Taken::Set);
    assert_eq!(take(ana, "second").unwrap(), Taken::Unknown, "it works once");
    assert!(store.has_pin(ana).unwrap() && !store.has_pin(bert).unwrap());
    assert_eq!(store.try_pin(ana, "4711", now).unwrap(), Answer::Right);
    for left in (1..5).rev() {
        assert_eq!(store.try_pin(ana, "0000", now).unwrap(), Answer::Wrong { left });
    }
    for typed in ["0000", "4711"] {
        let paused = store.try_pin(ana, typed, now).unwrap_err();
        assert!(paused.code == Code::NeedsPerson && paused.get("until").is_some(), "{paused:?}");
    }
    // A new link ends the pause, with a PIN of its own.
    store.put_invite(&keeper, &invite("third")).unwrap();
    assert_eq!(store.take_invite(ana, &invite_hash("third"), "0815", &[8; 32], now).unwrap(), Taken::Set);
    assert_eq!(store.try_pin(ana, "4711", now).unwrap(), Answer::Wrong { left: 4 });
    assert_eq!(store.try_pin(ana, "0815", now).unwrap(), Answer::Right);
    // Both go with their user.
    store.remove_account(&keeper.on_behalf("ana").unwrap()).unwrap();
    put_user(store, &keeper, "ana", &world).unwrap();
    give_token(store, &keeper, "ana", "hlm_again", &Terms::default(), &world).unwrap();
    let again = UserContext::by_token(store, "hlm_again", super::moment(noon)).unwrap();
    assert!(!store.has_pin(&again).unwrap());
}
