//! The story that every backend of the tiers must tell alike: what is kept, found, refused, superseded, removed, and what the audit says of it.
//!
//! Comes in: a way to make an empty backend. Goes out: nothing, or the assertion that failed. Compiled for tests only.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "a test that two crates share"
)]

mod audit;
mod carrying;
mod facts;
mod invited;
mod items;
mod removing;
mod turns;
mod undoing;
mod walls;

use super::{Access, TierStore, Tiers, UserContext};
use crate::gate::Entry;
use crate::{Call, Deployment, Project, World};
use heirloom_core::settings::{self, Layer, Origin};
use heirloom_core::{Caller, Channel, Who, time};
use jiff::Timestamp;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The user a shared store of a story begins with, and that user's token, which may everything.
pub const KEEPER: &str = "the-keeper";
pub const KEEPER_TOKEN: &str = "hlm_of_the_keeper_of_a_story";

pub const PERSON: Entry = Entry { channel: Channel::Person, confirmed: false };
pub const AGENT: Entry = Entry { channel: Channel::Agent, confirmed: false };
pub const WEB: Entry = Entry { channel: Channel::Web, confirmed: false };
pub const OWNER: Entry = Entry { channel: Channel::OwnerMessage, confirmed: false };

/// Makes an empty backend.
pub type Make<'m> = &'m dyn Fn() -> Arc<dyn TierStore>;

type Part = fn(&Stage, Make<'_>);

/// A backend and a folder for what stands beside it.
pub struct Stage {
    pub store: Arc<dyn TierStore>,
    folder: PathBuf,
    settings: Value,
}

impl Stage {
    pub fn new(store: Arc<dyn TierStore>, folder: &Path) -> Stage {
        Stage { store, folder: folder.to_owned(), settings: Value::Null }
    }

    /// The same stage with other settings.
    pub fn with(&self, settings: Value) -> Stage {
        Stage { store: Arc::clone(&self.store), folder: self.folder.clone(), settings }
    }

    /// An engine for a user at a time.
    pub fn at(&self, user: &str, now: &str) -> Call {
        self.by(Caller::process(user), user, now)
    }

    /// An engine for a user who sits at a terminal, at noon.
    pub fn person(&self, user: &str) -> Call {
        self.by(Caller::person(user), user, "2026-03-01T12:00:00Z")
    }

    /// An engine for a user who sits at a terminal, at a time.
    pub fn person_at(&self, user: &str, now: &str) -> Call {
        self.by(Caller::person(user), user, now)
    }

    /// An engine for whoever holds a token, at noon.
    pub fn holder(&self, token: &str) -> Call {
        let now = "2026-03-01T12:00:00Z";
        let who = UserContext::by_token(self.store.as_ref(), token, moment(now)).unwrap();
        let (id, scopes) = who.token().unwrap();
        let caller = Caller::process(who.user())
            .known_by(Who::Token { user: who.user().to_owned(), id: id.to_owned() }, scopes);
        let user = who.user().to_owned();
        self.made(caller, who, &user, now)
    }

    fn by(&self, caller: Caller, user: &str, now: &str) -> Call {
        let who = self.context(user, now);
        self.made(caller, who, user, now)
    }

    /// A context of somebody who keeps the deployment and acts as this user: by the account, or in a shared store by the token it was made with.
    pub fn context(&self, user: &str, now: &str) -> UserContext {
        if self.store.is_shared() {
            let keeper = UserContext::by_token(self.store.as_ref(), KEEPER_TOKEN, moment(now)).unwrap();
            return keeper.on_behalf(user).unwrap();
        }
        UserContext::by_account(&self.world(user, now)).unwrap()
    }

    /// Users that are there from the beginning.
    pub fn founders(&self) -> usize {
        usize::from(self.store.is_shared())
    }

    fn world(&self, user: &str, now: &str) -> World {
        World {
            now: moment(now),
            data: self.folder.join("data"),
            nonce: format!("nonce-{}-{user}-{now}", self.folder.display()),
            user: user.to_owned(),
        }
    }

    fn made(&self, caller: Caller, who: UserContext, user: &str, now: &str) -> Call {
        let world = self.world(user, now);
        let layer = Layer { origin: Origin::User, document: self.settings.clone() };
        let project = Project::new(&self.folder, &self.folder.join("memory"), world);
        let deployment = Arc::new(Deployment::default().with_dice(|| Ok([9; 32])));
        deployment.call(project, settings::load(&[layer]).settings, caller).with_tiers(Access::new(
            Arc::clone(&self.store),
            who,
            &self.folder.join("data/tiers"),
        ))
    }

    /// This very moment, for what a database holds against its own clock: when a file was written.
    pub fn today(&self) -> Timestamp {
        let file = self.folder.join("clock");
        std::fs::write(&file, "").unwrap();
        Timestamp::try_from(std::fs::metadata(&file).unwrap().modified().unwrap()).unwrap()
    }

    /// An engine for a user, at noon.
    pub fn of(&self, user: &str) -> Call {
        self.at(user, "2026-03-01T12:00:00Z")
    }
}

pub fn moment(text: &str) -> Timestamp {
    time::parse(text).unwrap()
}

/// Something every rule set takes for a secret; put together here, so that no scanner finds it in this file.
pub fn token() -> String {
    ["ghp_", "aB3dE5gH7jK9mN1pQ3", "sT5vW7yZ9bC1dE3fG5"].concat()
}

pub fn tiers(call: &Call) -> Tiers<'_> {
    call.tiers().unwrap()
}

/// The whole story; each part begins with an empty backend. What a part needs another one for it makes with `other`.
pub fn tell(make: Make<'_>, other: Make<'_>, folder: &Path) {
    let parts: [(&str, Part); 36] = [
        ("turns", turns::a_turn_is_kept_as_it_was_said),
        ("secrets", turns::secrets_are_cut_out_and_orders_made_harmless),
        ("failing", turns::a_secret_refuses_a_turn_where_the_settings_say_so),
        ("levels", turns::under_seed_the_three_levels_act_as_the_original_does),
        ("poisoning", turns::low_trust_orders_and_would_be_facts_are_audited_as_poisoning),
        ("twice", turns::the_same_message_is_kept_once),
        ("search", turns::a_question_finds_the_turn_that_answers_it),
        ("recency", turns::of_two_equal_turns_the_newer_one_comes_first),
        ("weights", turns::age_counts_by_as_much_as_its_weight_says),
        ("unasked", turns::what_fits_a_prompt_is_given_unasked_and_nothing_else_is),
        ("crowd", turns::a_crowd_neither_outranks_nor_evicts_what_the_owner_said),
        ("limits", turns::limits_hold_and_what_was_left_out_is_said),
        ("trust", facts::only_trusted_sources_write_facts_without_a_yes),
        ("beside", facts::what_contradicts_waits_and_supersedes_with_history),
        ("credentials", facts::credentials_are_refused_and_never_wait),
        ("extraction", facts::extracted_facts_always_wait),
        ("walls", walls::nobody_reaches_what_is_somebody_elses),
        ("tokens", walls::a_token_opens_one_account_only),
        ("names", walls::a_new_token_ends_the_one_of_its_name_and_no_other),
        ("earlier", walls::a_token_of_0_1_reads_and_writes_until_another_takes_its_place),
        ("invited", invited::a_link_sets_a_pin_once_and_five_wrong_tries_make_a_pause),
        ("granted", facts::a_program_with_the_scope_stores_facts_as_its_own),
        ("expiry", removing::episodes_expire_and_facts_stay),
        ("topic", removing::a_topic_is_forgotten_whole),
        ("clear", removing::clearing_a_tier_leaves_the_other),
        ("audit", audit::the_chain_tells_everything_and_no_content),
        ("retention", audit::retention_leaves_a_checkpoint),
        ("undo", undoing::a_change_of_facts_is_taken_back_whole),
        ("decisions", undoing::a_decision_about_a_fact_is_taken_back),
        ("user", undoing::a_user_goes_with_all_that_is_theirs),
        ("used", undoing::a_token_says_in_which_hour_it_was_last_used),
        ("archive", carrying::an_archive_brings_everything_back_once),
        ("items", items::the_same_key_replaces_and_history_is_kept),
        ("item tiers", items::without_the_scope_facts_an_item_ends),
        ("item places", items::items_are_listed_by_how_their_place_begins),
        ("item archive", items::an_archive_carries_items_whole),
    ];
    for (name, part) in parts {
        let place = folder.join(name);
        std::fs::create_dir_all(&place).unwrap();
        part(&Stage::new(make(), &place), other);
    }
}
