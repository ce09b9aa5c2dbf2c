//! Walls: users and their tokens.

use super::super::{FactWords, Role, Turn, UserContext, Which, new_token, put_user};
use super::{Make, OWNER, PERSON, Stage, tiers};
use crate::gate::{Decision, admit};
use crate::shelf::Shelf as _;
use heirloom_core::{Code, MemoryId};

pub(super) fn nobody_reaches_what_is_somebody_elses(stage: &Stage, _: Make<'_>) {
    let (ada, bob) = (stage.of("ada"), stage.of("bob"));
    let fact = tiers(&ada).remember(FactWords::of("I prefer oat milk"), PERSON).unwrap().stored;
    let turn =
        tiers(&ada).add_episode(Turn::of(Role::User, "oat milk is in the fridge"), OWNER).unwrap().stored;
    tiers(&bob).add_episode(Turn::of(Role::User, "bob was here"), OWNER).unwrap();
    let mine = tiers(&bob)
        .store()
        .page(tiers(&bob).who(), &super::super::Wanted { limit: 100, ..Default::default() })
        .unwrap();
    assert!(mine.memories.iter().all(|m| m.user == "bob"));
    let calls: [&dyn Fn(&str) -> Code; 6] = [
        &|id| tiers(&bob).show(id).unwrap_err().code,
        &|id| tiers(&bob).delete(&[id.to_owned()], "test").unwrap_err().code,
        &|id| tiers(&bob).set_confidence(id, 0.5).unwrap_err().code,
        &|id| tiers(&bob).reword(id, "mine now", PERSON).unwrap_err().code,
        &|id| tiers(&bob).retire(&MemoryId::parse(id).unwrap(), "", PERSON).unwrap_err().code,
        &|id| tiers(&bob).forget(&MemoryId::parse(id).unwrap(), PERSON).unwrap_err().code,
    ];
    for id in [fact.id.as_str(), turn.id.as_str()] {
        for call in calls {
            assert_eq!(call(id), Code::NotFound, "not yours and not there look the same");
        }
    }
    let who = tiers(&bob).who().clone();
    let ids = vec![fact.id.clone(), turn.id.clone()];
    assert!(stage.store.delete(&who, &Which::Ids(ids.clone()), &|_| Vec::new()).unwrap().ids.is_empty());
    assert!(
        stage
            .store
            .delete(&who, &Which::Tier(None), &|_| Vec::new())
            .unwrap()
            .ids
            .iter()
            .all(|id| !ids.contains(id))
    );
    // A draft that names another user passes the gate and still cannot be stored.
    let mut draft =
        super::super::TierDraft::new(fact.clone(), heirloom_core::settings::Profile::Standard, PERSON);
    draft.stored.id.push('0');
    let Decision::Passed(passed) = admit(draft, PERSON, bob.screen()) else {
        panic!("the gate let it through before")
    };
    assert_eq!(stage.store.write(&who, &[passed], &[]).unwrap_err().code, Code::Security);
    assert_eq!(tiers(&ada).show(&fact.id).unwrap(), fact);
    assert_eq!(tiers(&ada).show(&turn.id).unwrap(), turn);
    let refused = tiers(&bob).audit(100, |line| line.action == super::super::Action::AccessRefused).unwrap();
    assert_eq!(refused.len(), 12, "every attempt is a line");
    assert!(tiers(&bob).show("fact:nobody").is_err());
    let lines = tiers(&bob).audit(100, |line| line.action == super::super::Action::AccessRefused).unwrap();
    assert_eq!(lines.len(), 12, "an id nobody ever had is no attempt on somebody");
}

pub(super) fn a_token_opens_one_account_only(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    let world = call.project().world();
    let store = stage.store.as_ref();
    let token = new_token(&[7; 32]);
    put_user(store, tiers(&call).who(), "carol", Some(&token), world).unwrap();
    put_user(store, tiers(&call).who(), "dave", None, world).unwrap();
    let carol = UserContext::by_token(store, &token).unwrap();
    assert_eq!((carol.user(), carol.is_keeper()), ("carol", false));
    assert_eq!(UserContext::by_token(store, "hlm_wrong").unwrap_err().code, Code::Unauthenticated);
    assert_eq!(UserContext::by_token(store, "").unwrap_err().code, Code::Unauthenticated);
    assert_eq!(carol.on_behalf("ada").unwrap_err().code, Code::Security);
    assert_eq!(put_user(store, &carol, "dave", Some("x"), world).unwrap_err().code, Code::Security);
    assert!(
        store.accounts().unwrap().iter().all(|account| account.token_hash.as_deref() != Some(token.as_str()))
    );
    let fresh = format!("{token}2");
    put_user(store, tiers(&call).who(), "carol", Some(&fresh), world).unwrap();
    assert!(UserContext::by_token(store, &token).is_err(), "a new token replaces the old one");
    assert!(UserContext::by_token(store, &fresh).is_ok());
    assert!(put_user(store, tiers(&call).who(), "system", None, world).is_err());
}
