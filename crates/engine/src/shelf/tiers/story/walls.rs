//! Walls: users and their tokens.

use super::super::{
    Account, FactWords, Role, Terms, Turn, UserContext, Which, give_token, new_token, put_user,
};
use super::{Make, OWNER, PERSON, Stage, tiers};
use crate::gate::{Decision, admit};
use crate::shelf::Shelf as _;
use heirloom_core::{Code, Grant, MemoryId, Scopes, hash};

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
    assert_eq!(stage.store.write(&who, &[passed], &[], None).unwrap_err().code, Code::Security);
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
    let (world, keeper) = (call.project().world(), tiers(&call).who());
    let now = world.now;
    let store = stage.store.as_ref();
    let token = new_token(&[7; 32]);
    let usual = Terms::default();
    for user in ["carol", "dave"] {
        put_user(store, keeper, user, world).unwrap();
    }
    give_token(store, keeper, "carol", &token, &usual, world).unwrap();
    let carol = UserContext::by_token(store, &token, now).unwrap();
    assert_eq!((carol.user(), carol.is_keeper()), ("carol", false));
    assert_eq!(carol.token().unwrap().1, Scopes::USUAL, "to read and to write, unless somebody says more");
    assert_eq!(UserContext::by_token(store, "hlm_wrong", now).unwrap_err().code, Code::Unauthenticated);
    assert_eq!(UserContext::by_token(store, "", now).unwrap_err().code, Code::Unauthenticated);
    assert_eq!(carol.on_behalf("ada").unwrap_err().code, Code::Security);
    for user in ["carol", "dave"] {
        let fault = give_token(store, &carol, user, "x", &usual, world).unwrap_err();
        assert_eq!(fault.code, Code::Security, "a token makes no tokens");
    }
    assert_eq!(put_user(store, &carol, "eve", world).unwrap_err().code, Code::Security);
    let kept = store.tokens(keeper, None).unwrap();
    assert!(kept.iter().all(|kept| kept.hash != token && !kept.hash.contains(&token)));
    let fresh = format!("{token}2");
    give_token(store, keeper, "carol", &fresh, &usual, world).unwrap();
    assert!(UserContext::by_token(store, &token, now).is_err(), "a new token replaces the old one");
    assert!(UserContext::by_token(store, &fresh, now).is_ok());
    assert!(put_user(store, keeper, "system", world).is_err());
    // Who looks after users hands on what the token itself may, and no more.
    let admin = Terms { scopes: Scopes::USUAL.with(Grant::Admin), ..Terms::default() };
    give_token(store, keeper, "dave", "hlm_admin", &admin, world).unwrap();
    let dave = UserContext::by_token(store, "hlm_admin", now).unwrap();
    give_token(store, &dave, "carol", "hlm_from_dave", &usual, world).unwrap();
    let more = Terms { scopes: Scopes::USUAL.with(Grant::Delete), ..Terms::default() };
    assert_eq!(give_token(store, &dave, "dave", "hlm_more", &more, world).unwrap_err().code, Code::Security);
}

pub(super) fn a_new_token_ends_the_one_of_its_name_and_no_other(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    let (world, keeper) = (call.project().world(), tiers(&call).who());
    let store = stage.store.as_ref();
    put_user(store, keeper, "carol", world).unwrap();
    let of = |name: &str, scopes, days| Terms { name: name.to_owned(), scopes, days, hours: None };
    let delete = Scopes::USUAL.with(Grant::Delete);
    give_token(store, keeper, "carol", "usual", &of("", Scopes::USUAL, None), world).unwrap();
    give_token(store, keeper, "carol", "first", &of("ci", delete, Some(2)), world).unwrap();
    give_token(store, keeper, "carol", "second", &of("ci", delete, Some(2)), world).unwrap();
    let opens = |token: &str, at: &str| UserContext::by_token(store, token, super::moment(at));
    let noon = "2026-03-01T12:00:00Z";
    assert_eq!(opens("first", noon).unwrap_err().message, "this token is not valid");
    assert!(opens("usual", noon).is_ok(), "tokens of other names go on");
    assert_eq!(opens("second", noon).unwrap().token().unwrap().1, delete);
    let late = opens("second", "2026-03-03T12:00:00Z").unwrap_err();
    assert_eq!((late.code, late.message.as_str()), (Code::Unauthenticated, "this token ended on 2026-03-03"));
    assert!(late.next_step().contains("heirloom user token carol --scope read,write,delete --name ci"));
    let listed = store.tokens(keeper, Some("carol")).unwrap();
    let names: Vec<&str> = listed.iter().map(|token| token.name.as_str()).collect();
    assert_eq!(names, ["", "ci"]);
    assert!(store.tokens(keeper, Some("ada")).unwrap().is_empty());
    let removes = || store.remove_token(keeper, "carol", "ci").unwrap();
    assert!(removes() && !removes());
    assert!(opens("second", noon).is_err() && opens("usual", noon).is_ok());
}

pub(super) fn a_token_of_0_1_reads_and_writes_until_another_takes_its_place(stage: &Stage, _: Make<'_>) {
    let call = stage.of("ada");
    let (world, keeper) = (call.project().world(), tiers(&call).who());
    let store = stage.store.as_ref();
    let hash = |token: &str| hash::sha256(format!("heirloom token\0{token}").as_bytes());
    for user in ["carol", "dave"] {
        let token_hash = Some(hash(&format!("hlm_{user}")));
        store
            .put_account(
                keeper,
                &Account { user: user.to_owned(), added_at: "2026-01-01T00:00:00Z".into(), token_hash },
            )
            .unwrap();
    }
    let opens = |token: &str| UserContext::by_token(store, token, world.now);
    let carol = opens("hlm_carol").unwrap();
    assert_eq!((carol.user(), carol.token().unwrap().1), ("carol", Scopes::USUAL));
    assert_eq!(carol.token().unwrap().0, &hash("hlm_carol")[..8]);
    assert_eq!(store.tokens(keeper, None).unwrap().len(), 2 + stage.founders());
    put_user(store, keeper, "carol", world).unwrap();
    assert!(opens("hlm_carol").is_ok(), "adding a known user takes nothing away");
    let named = Terms { name: "ci".to_owned(), ..Terms::default() };
    give_token(store, keeper, "carol", "named", &named, world).unwrap();
    assert!(opens("hlm_carol").is_ok(), "a token with a name is another one");
    give_token(store, keeper, "carol", "fresh", &Terms::default(), world).unwrap();
    assert!(opens("hlm_carol").is_err() && opens("fresh").is_ok() && opens("named").is_ok());
    assert!(store.remove_token(keeper, "dave", "").unwrap());
    assert!(opens("hlm_dave").is_err());
    assert_eq!(store.accounts(keeper).unwrap().len(), 2 + stage.founders(), "the users stay");
}
