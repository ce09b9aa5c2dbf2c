//! The one table of who may do what.
//!
//! Comes in: a [`Verb`], whose text it would touch, and a [`Caller`]. Goes out: it is done, it waits in review, or it is refused with the
//! command that would help. Never here: finding out whose text something is, which is the trust book's; doing anything.
//!
//! Authority is asked for the effect on each text, not for the name of a command: a command that changes two memories asks twice, and
//! one that supersedes another memory asks for [`Verb::Supersede`] beside its own verb.

use crate::caller::{Caller, Grant, Scopes, Who};
use crate::{Code, Fault};
use serde::Serialize;

/// Whose text something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// Nobody here vouched for it: a colleague's, or edited by hand.
    Nobody,
    /// An agent of this user wrote it.
    Agent,
    /// A person wrote or accepted it.
    Person,
}

/// All owners, in the order of the table's columns.
pub const OWNERS: [Owner; 3] = [Owner::Nobody, Owner::Agent, Owner::Person];

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum May {
    /// It is done.
    Does,
    /// It waits in review; until then everything stays as it is.
    Waits,
    /// It is refused.
    Refused,
}

impl May {
    /// The words of the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            May::Does => "does it",
            May::Waits => "waits in review",
            May::Refused => "refused",
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The verb.
    pub verb: Verb,
    /// Its name in audits and on paper.
    pub name: &'static str,
    /// What it does, in a line.
    pub what: &'static str,
    /// The scope without which no token, and nobody who uses one, may do it.
    pub needs: Grant,
    /// What becomes of it when an agent asks, by the owner of the text.
    pub agent: [May; 3],
    /// The scope with which a token does it where an agent would wait or be refused.
    pub lifted_by: Option<Grant>,
}

macro_rules! table {
    ($($verb:ident $name:literal $needs:ident $agent:expr, $lifted:expr, $what:literal;)*) => {
        /// What can be done.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant is described by its row in the table")]
        pub enum Verb { $($verb),* }

        /// The one table.
        pub const TABLE: &[Row] = &[$(Row {
            verb: Verb::$verb, name: $name, what: $what, needs: Grant::$needs, agent: $agent, lifted_by: $lifted,
        }),*];
    };
}

/// Whoever asks.
const FREE: [May; 3] = [May::Does, May::Does, May::Does];
/// What a person stands behind changes only with a person's yes.
const KEEPS_A_PERSONS: [May; 3] = [May::Does, May::Does, May::Waits];
/// A person decides each time.
const ASKS: [May; 3] = [May::Waits, May::Waits, May::Waits];
/// Only a person.
const PERSON: [May; 3] = [May::Refused, May::Refused, May::Refused];
const NO: Option<Grant> = None;

table! {
    Show "show" Read FREE, NO, "shows a memory";
    List "list" Read FREE, NO, "lists memories";
    History "history" Read FREE, NO, "shows the history of a memory";
    Search "search" Read FREE, NO, "finds memories";
    Recall "recall" Read FREE, NO, "gives what an agent would be given for a prompt";
    Brief "brief" Read FREE, NO, "gives the lessons that fit a task";
    Snapshot "snapshot" Read FREE, NO, "gives what an agent gets at the start of a session";
    Review "review" Read FREE, NO, "lists what waits for a person";
    Status "status" Read FREE, NO, "counts what there is and says what needs attention";
    Verify "verify" Read FREE, NO, "checks the stored files";
    Scan "scan" Read FREE, NO, "looks for secrets and identity data";
    Audit "audit" Read FREE, NO, "shows and checks the audit";
    Why "why" Read FREE, NO, "says why a memory was given to an agent";
    Last "last" Read FREE, NO, "says what hooks did last";
    Doctor "doctor" Read FREE, NO, "checks hooks, databases, models and settings";
    Export "export" Read FREE, NO, "writes one's own memories to a file";
    ConfigShow "config_show" Read FREE, NO, "shows settings";
    UserList "user_list" Read FREE, NO, "lists the users of this store";

    Init "init" Write FREE, NO, "makes a memory folder";
    Setup "setup" Write FREE, NO, "installs hooks into coding agents";
    Add "add" Write FREE, NO, "saves a new memory; the gate decides what waits";
    Remember "remember" Write ASKS, Some(Grant::Facts), "stores a fact about a person";
    Turn "turn" Write FREE, NO, "keeps a turn of a conversation";
    Working "working" Write FREE, NO, "keeps, shows or clears the running conversation";
    Import "import" Write FREE, NO, "saves memories from a file, each as if it were added";
    Repair "repair" Write FREE, NO, "writes derived files again: indexes, the list of topics";
    Sync "sync" Write FREE, NO, "exchanges lessons with a shared repository";
    Gc "gc" Write FREE, NO, "removes what has expired by the settings";
    Expire "expire" Upkeep FREE, NO, "removes turns that are past their time";

    Edit "edit" Write KEEPS_A_PERSONS, NO, "changes a memory";
    Supersede "supersede" Write KEEPS_A_PERSONS, NO, "puts a newer memory in the place of an older one";
    Retire "retire" Write KEEPS_A_PERSONS, NO, "takes a memory out of use";
    Restore "restore" Write KEEPS_A_PERSONS, NO, "puts a retired memory back into use";
    Archive "archive" Write KEEPS_A_PERSONS, NO, "keeps a memory for the record, out of recall";
    Unarchive "unarchive" Write KEEPS_A_PERSONS, NO, "puts an archived memory back into use";
    Convert "convert" Write KEEPS_A_PERSONS, NO, "makes a memory of another kind from this one";
    Join "join" Write KEEPS_A_PERSONS, NO, "makes one memory of two; the other is retired";
    Anchor "anchor" Write KEEPS_A_PERSONS, NO, "says which code a memory cites";
    Undo "undo" Write [May::Does, May::Does, May::Refused], NO, "undoes a change";

    Forget "forget" Delete FREE, NO, "removes every trace of a memory";
    Clear "clear" Delete FREE, NO, "removes every turn or fact of a user";
    Compact "compact" Delete FREE, NO, "drops superseded lines of the vault";
    Redact "redact" Delete FREE, NO, "cuts what the gate refuses out of stored files";
    RemoveEarly "remove_early" Delete FREE, NO, "removes retired records or turns before the settings say so";
    Resurrect "resurrect" Delete FREE, NO, "imports what was forgotten before";
    Uninstall "uninstall" Delete FREE, NO, "takes the hooks out of coding agents";

    Accept "accept" Write PERSON, NO, "accepts what waits, or a memory as it stands";
    Reject "reject" Write FREE, NO, "rejects what waits; `undo` brings it back";
    ConfigSet "config_set" Write FREE, NO, "changes a setting that loosens nothing";
    ConfigGuarded "config_guarded" Write PERSON, NO, "changes or removes a guarded setting, or approves one";
    UserAdd "user_add" Admin FREE, NO, "adds a user";
    UserToken "user_token" Admin PERSON, Some(Grant::Admin), "makes, replaces or revokes a token";
    UserInvite "user_invite" Admin PERSON, Some(Grant::Admin), "makes a link by which a user sets a PIN for the page of a server";
    Confirm "confirm" Read FREE, NO, "shows by a PIN that a person is at the page of a server";
    UserRemove "user_remove" Admin PERSON, Some(Grant::Admin), "removes a user and all that is theirs";
    AllUsers "all_users" Admin FREE, NO, "exports or imports the memories of every user";
}

impl Verb {
    /// This verb's row.
    pub const fn row(self) -> &'static Row {
        // The table lists the verbs in the order of the enum, both made by the macro above.
        &TABLE[self as usize]
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// What becomes of it when this caller asks for it on a text of this owner.
    pub fn may(self, caller: &Caller, owner: Owner) -> May {
        let row = self.row();
        if !caller.scopes().has(row.needs) {
            return May::Refused;
        }
        let lifted = || {
            matches!(caller.who(), Who::Token { .. })
                && row.lifted_by.is_some_and(|grant| caller.scopes().has(grant))
        };
        if caller.is_person() || lifted() { May::Does } else { row.agent[owner as usize] }
    }

    /// Whether this caller may do it only because a person is there, and it is one of those for which `person.check` wants more than a
    /// terminal: what cannot be taken back, accepting, guarded settings, and tokens that could do the same without anybody.
    pub fn wants_check(self, caller: &Caller) -> bool {
        let row = self.row();
        let weighty = row.needs == Grant::Delete
            || matches!(
                self,
                Verb::Accept | Verb::ConfigGuarded | Verb::UserToken | Verb::UserInvite | Verb::UserRemove
            );
        // A token that a person gave the scope to does it without a person, and with one no less.
        let by_token = matches!(caller.who(), Who::Token { .. })
            && (row.agent[0] == May::Does || row.lifted_by.is_some_and(|grant| caller.scopes().has(grant)));
        weighty && caller.is_person() && !by_token
    }

    /// The refusal for a person who was not checked.
    pub fn unchecked(self) -> Fault {
        let name = self.name().replace('_', " ");
        Fault::new(Code::NeedsPerson, format!("{name} needs your PIN"))
            .fact("verb", self.name())
            .hint("run it in a terminal, where it can be asked for; `heirloom config pin` sets one")
    }

    /// The refusal for a caller who may not, with what would help.
    pub fn refusal(self, caller: &Caller) -> Fault {
        let row = self.row();
        let lacking = !caller.scopes().has(row.needs);
        let of_token = matches!(caller.who(), Who::Token { .. });
        let name = row.name.replace('_', " ");
        match (of_token, lacking) {
            (true, true) => Fault::new(
                Code::Security,
                format!("{name} needs a token with the scope `{}`", row.needs.name()),
            )
            .hint(format!(
                "a person makes one: heirloom user token NAME --scope {}",
                Scopes::USUAL.with(row.needs)
            )),
            _ => Fault::new(Code::NeedsPerson, format!("{name} needs a person at a terminal")).hint(
                match (row.needs, row.lifted_by) {
                    (Grant::Delete, _) => {
                        "run it yourself in a terminal; for scripts, a person makes a token that may: \
                         heirloom user token NAME --scope read,write,delete"
                    }
                    (Grant::Admin, _) => {
                        "run it yourself in a terminal; for scripts, a person makes a token that may: \
                         heirloom user token NAME --scope read,write,admin"
                    }
                    _ => "run it yourself, in a terminal of your own",
                },
            ),
        }
        .fact("verb", row.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(scopes: Scopes) -> Caller {
        Caller::process("ana").known_by(Who::Token { user: "ana".into(), id: "1".into() }, scopes)
    }

    #[test]
    fn every_verb_finds_its_own_row_and_no_name_stands_twice() {
        let mut seen = std::collections::HashSet::new();
        for row in TABLE {
            assert_eq!(row.verb.row().name, row.name);
            assert!(seen.insert(row.name), "{} twice", row.name);
        }
    }

    #[test]
    fn a_person_at_an_own_account_may_do_everything() {
        let person = Caller::person("ana");
        for row in TABLE {
            for owner in OWNERS {
                assert_eq!(row.verb.may(&person, owner), May::Does, "{}", row.name);
            }
        }
    }

    #[test]
    fn no_scope_lets_a_token_accept_or_loosen() {
        for verb in [Verb::Accept, Verb::ConfigGuarded] {
            for owner in OWNERS {
                assert_eq!(verb.may(&token(Scopes::ALL), owner), May::Refused, "{}", verb.name());
            }
        }
    }

    #[test]
    fn what_cannot_be_taken_back_needs_a_person_or_the_scope_delete() {
        let removing = TABLE.iter().filter(|row| row.needs == Grant::Delete);
        for row in removing {
            assert_eq!(row.verb.may(&Caller::process("ana"), Owner::Agent), May::Refused, "{}", row.name);
            assert_eq!(row.verb.may(&token(Scopes::USUAL), Owner::Agent), May::Refused, "{}", row.name);
            assert_eq!(
                row.verb.may(&token(Scopes::USUAL.with(Grant::Delete)), Owner::Person),
                May::Does,
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn an_agent_changes_a_persons_text_only_through_review() {
        for verb in [Verb::Edit, Verb::Retire, Verb::Restore, Verb::Archive, Verb::Unarchive, Verb::Convert] {
            let agent = Caller::process("ana");
            assert_eq!(verb.may(&agent, Owner::Person), May::Waits, "{}", verb.name());
            assert_eq!(verb.may(&agent, Owner::Agent), May::Does, "{}", verb.name());
            assert_eq!(verb.may(&agent, Owner::Nobody), May::Does, "{}", verb.name());
        }
    }

    #[test]
    fn a_token_caps_what_a_person_may_do() {
        let person =
            Caller::person("ana").known_by(Who::Token { user: "ana".into(), id: "1".into() }, Scopes::USUAL);
        assert_eq!(Verb::Forget.may(&person, Owner::Person), May::Refused);
        assert!(Verb::Forget.refusal(&person).next_step().contains("--scope read,write,delete"));
        assert_eq!(Verb::Edit.may(&person, Owner::Person), May::Does);
    }

    #[test]
    fn a_check_is_wanted_only_where_a_terminal_is_what_counts() {
        let person = Caller::person("ana");
        for verb in [Verb::Forget, Verb::Clear, Verb::Accept, Verb::ConfigGuarded, Verb::UserToken] {
            assert!(verb.wants_check(&person), "{}", verb.name());
            assert!(!verb.wants_check(&Caller::process("ana")), "{}", verb.name());
        }
        for verb in [Verb::Show, Verb::Add, Verb::Edit, Verb::Retire, Verb::Reject, Verb::ConfigSet] {
            assert!(!verb.wants_check(&person), "{}", verb.name());
        }
        let holder =
            |scopes| person.clone().known_by(Who::Token { user: "ana".into(), id: "1".into() }, scopes);
        assert!(!Verb::Forget.wants_check(&holder(Scopes::USUAL.with(Grant::Delete))));
        assert!(!Verb::UserToken.wants_check(&holder(Scopes::USUAL.with(Grant::Admin))));
        assert!(Verb::Accept.wants_check(&holder(Scopes::ALL)), "no token accepts anything by itself");
    }

    #[test]
    fn facts_of_a_program_are_stored_at_once_only_with_that_scope() {
        assert_eq!(Verb::Remember.may(&token(Scopes::USUAL), Owner::Nobody), May::Waits);
        assert_eq!(Verb::Remember.may(&token(Scopes::USUAL.with(Grant::Facts)), Owner::Nobody), May::Does);
    }
}
