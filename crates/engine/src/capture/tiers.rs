//! From a transcript's turns to episodes.
//!
//! Comes in: turns in order. Goes out: an episode for each, with the trust of its channel: a person's words are the owner's if the caller can
//! say so and somebody's otherwise, an assistant's are an agent's. The same transcript may be brought as often as anybody likes: a turn is known by its session and what was said when. Never here:
//! anything, unless `tiers.capture` is on.

use super::transcript::{Role, Turn};
use crate::call::Call;
use crate::gate::Entry;
use crate::shelf::tiers;
use heirloom_core::authority::Owner;
use heirloom_core::{Channel, ShelfName, Verb, fault::Result, hash, time};

/// What a stop kept of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptTurns {
    /// Turns that are new.
    pub stored: usize,
    /// Turns that were there already.
    pub known: usize,
    /// Turns the gate refused, and turns that were removed before and stay so.
    pub refused: usize,
    /// Facts that somebody stated in them; they wait for a yes.
    pub proposed: usize,
    /// Secrets and orders that were cut out of new ones or made harmless.
    pub cut_out: usize,
}

/// Whether a tool brings what anybody could have written: the host says its name, not whom it asked.
fn is_of_the_web(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    ["web", "fetch", "browse", "http", "url", "search"].iter().any(|part| tool.contains(part))
}

/// What a stop does: keeps the turns of a transcript as episodes, if `tiers.capture` is on. A turn that does not say its session belongs to
/// the one that stopped. `by_owner` says whether a person's words in a turn of that session are the owner's.
pub fn keep_turns(
    call: &Call,
    turns: impl IntoIterator<Item = Turn>,
    stopped: Option<&str>,
    by_owner: impl Fn(Option<&str>) -> bool,
) -> Result<KeptTurns> {
    let mut kept = KeptTurns::default();
    if !call.settings().tiers.capture {
        return Ok(kept);
    }
    let shelf = call.tiers()?;
    let stopped = stopped.filter(|name| tiers::is_name(name)).unwrap_or("unnamed");
    let mut said = Vec::new();
    for (position, turn) in turns.into_iter().enumerate().filter(|(_, turn)| !turn.text.trim().is_empty()) {
        let channel = match turn.role {
            Role::User if by_owner(turn.session.as_deref()) => Channel::OwnerMessage,
            Role::User => Channel::OtherMessage,
            Role::Assistant => Channel::Agent,
            Role::Tool if turn.tool.as_deref().is_some_and(is_of_the_web) => Channel::Web,
            Role::Tool => Channel::ToolRead,
        };
        let at = turn.at.map(time::format).unwrap_or_default();
        let message = hash::sha256(format!("{at}\0{}", turn.text).as_bytes())[..24].to_owned();
        let role = match turn.role {
            Role::User => tiers::Role::User,
            Role::Assistant => tiers::Role::Assistant,
            Role::Tool => tiers::Role::Tool,
        };
        said.push((
            tiers::Turn {
                session: turn.session.or_else(|| Some(stopped.to_owned())),
                message: Some(message),
                position: u32::try_from(position).unwrap_or(u32::MAX),
                occurred_at: turn.at,
                // What repeats a tool's words is remembered as what it is, whoever said it.
                from_external_content: turn.external,
                tool: turn.tool,
                ..tiers::Turn::of(role, turn.text)
            },
            Entry::through(channel),
        ));
    }
    if said.is_empty() {
        return Ok(kept);
    }
    // A hook acts for whoever's token it has: one that may only read keeps nothing.
    call.asks(Verb::Turn, ShelfName::Tiers, Owner::Nobody)
        .map_err(|fault| call.refuse(Verb::Turn, "", fault))?;
    for outcome in shelf.add_episodes(said)? {
        let turn = match outcome {
            Ok(done) if done.status == "created" => {
                kept.cut_out += done.notes.len();
                done.stored
            }
            Ok(_) => {
                kept.known += 1;
                continue;
            }
            Err(_) => {
                kept.refused += 1;
                continue;
            }
        };
        kept.stored += 1;
        // What was proposed at an earlier stop, and perhaps rejected, is not proposed again. Where the user named an endpoint for this, it is
        // asked later, when nobody waits.
        if turn.role == Some(tiers::Role::User) && call.settings().extraction.is_none() {
            let entry = Entry::through(turn.channel);
            kept.proposed += shelf.propose_from(&turn.content, turn.session.as_deref(), entry)?;
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::tiers::SqliteStore;
    use crate::shelf::tiers::story::{Stage, moment, tiers};
    use heirloom_core::Trust;

    #[test]
    fn a_conversation_is_kept_once_and_only_if_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let stage = Stage::new(std::sync::Arc::new(SqliteStore::at(&dir.path().join("t"))), dir.path());
        let turn = |role, text: &str| Turn {
            role,
            text: text.to_owned(),
            at: Some(moment("2026-03-01T10:00:00Z")),
            session: Some("s".to_owned()),
            files: Vec::new(),
            external: false,
            tool: None,
        };
        let turns = || {
            vec![
                turn(Role::User, "I prefer small commits."),
                turn(Role::Assistant, "Noted."),
                turn(Role::User, " "),
            ]
        };
        assert_eq!(
            keep_turns(&stage.of("ada"), turns(), None, |_| true).unwrap(),
            KeptTurns::default(),
            "off unless switched on"
        );
        let call = stage.with(serde_json::json!({ "tiers": { "capture": true } })).of("ada");
        let kept = keep_turns(&call, turns(), None, |_| true).unwrap();
        assert_eq!((kept.stored, kept.proposed), (2, 1));
        assert_eq!(
            keep_turns(&call, turns(), None, |_| true).unwrap(),
            KeptTurns { known: 2, ..KeptTurns::default() }
        );
        let all = tiers(&call).newest(None, None, Some("s"), 10).unwrap();
        assert_eq!(all.iter().map(|m| m.trust).collect::<Vec<_>>(), [Trust::Low, Trust::High]);
        let gone = tiers(&call).newest(None, None, Some("s"), 1).unwrap().remove(0);
        tiers(&call).delete(std::slice::from_ref(&gone.id), "forget").unwrap();
        let kept = keep_turns(&call, turns(), None, |_| true).unwrap();
        assert_eq!((kept.known, kept.refused, kept.stored), (1, 1, 0), "what was removed stays so");
    }

    #[test]
    fn a_turn_that_names_no_session_belongs_to_the_one_that_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let stage = Stage::new(std::sync::Arc::new(SqliteStore::at(&dir.path().join("t"))), dir.path());
        let call = stage.with(serde_json::json!({ "tiers": { "capture": true } })).of("ada");
        let turn = Turn {
            role: Role::Assistant,
            text: "Noted.".to_owned(),
            at: None,
            session: None,
            files: Vec::new(),
            external: false,
            tool: None,
        };
        for stored in [1, 0] {
            let kept = keep_turns(&call, [turn.clone()], Some("s-1"), |_| false).unwrap();
            assert_eq!(kept.stored, stored, "however many stops see it");
        }
        assert_eq!(tiers(&call).newest(None, None, Some("s-1"), 10).unwrap().len(), 1);
        // A name that no session can have loses no turn.
        let kept = keep_turns(&call, [turn], Some("a\nb"), |_| false).unwrap();
        assert_eq!((kept.stored, kept.refused), (1, 0));
    }
}
