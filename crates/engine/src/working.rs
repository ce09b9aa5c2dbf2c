//! Working memory: the running conversation, in the process that serves it.
//!
//! Comes in: messages, each with its trust. Goes out: those that still fit, oldest first, and the trust of the whole. Bounded in messages, in
//! tokens and in time; gone with its session. Never here: a file. Nothing of this type can be written down: it has no form for it.

use heirloom_core::Trust;
use heirloom_core::settings::Tiers as Settings;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::fmt;

/// Conversations one process keeps in mind; the one silent for longest makes room.
const MOST_SESSIONS: usize = 10_000;
/// Conversations of one user; nobody crowds the others out.
const MOST_OF_ONE: usize = 200;

/// Who speaks in a running conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Whoever set the conversation up; goes last.
    System,
    /// A person.
    User,
    /// A model.
    Assistant,
    /// A tool.
    Tool,
}

/// A message in mind.
#[derive(Clone, PartialEq)]
pub struct Message {
    /// Who spoke.
    pub speaker: Speaker,
    /// What was said, without secrets unless the system said it; of an opaque item, its JSON.
    pub content: String,
    /// An item of a host's own form, kept as it is.
    pub item: Option<Value>,
    /// How far to believe it.
    pub trust: Trust,
    /// Its length in tokens, four characters each.
    pub tokens: usize,
    at: Timestamp,
}

// What is said stands in no log: these types are printed without it.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message {{ speaker: {:?}, tokens: {}, .. }}", self.speaker, self.tokens)
    }
}

/// How much is kept in mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkingLimits {
    /// Most messages.
    pub messages: usize,
    /// Most tokens.
    pub tokens: usize,
    /// Seconds of silence after which a message goes.
    pub seconds: i64,
}

impl From<&Settings> for WorkingLimits {
    fn from(settings: &Settings) -> WorkingLimits {
        WorkingLimits {
            messages: settings.working_messages,
            tokens: settings.working_tokens,
            seconds: i64::from(settings.working_minutes) * 60,
        }
    }
}

/// What is said of a conversation as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// The lowest trust of all messages so far, also of those that dropped out; high when there were none.
    pub trust: Trust,
}

/// One running conversation.
#[derive(Debug)]
pub struct Working {
    limits: WorkingLimits,
    messages: VecDeque<Message>,
    tokens: usize,
    trust: Trust,
    last: Option<Timestamp>,
}

impl Working {
    /// An empty conversation.
    pub fn new(limits: WorkingLimits) -> Working {
        Working { limits, messages: VecDeque::new(), tokens: 0, trust: Trust::High, last: None }
    }

    /// Takes a message in; `redact` cuts secrets out of what is not the system's own. The oldest ones make room, the system's last.
    pub fn push(
        &mut self,
        speaker: Speaker,
        content: &str,
        trust: Trust,
        now: Timestamp,
        redact: impl Fn(&str) -> String,
    ) {
        let content = if speaker == Speaker::System { content.to_owned() } else { redact(content) };
        self.keep(speaker, content, None, trust, now);
    }

    /// Takes in an item of a host's own form, from which secrets were cut already.
    pub fn push_item(&mut self, speaker: Speaker, item: Value, trust: Trust, now: Timestamp) {
        self.keep(speaker, item.to_string(), Some(item), trust, now);
    }

    fn keep(&mut self, speaker: Speaker, content: String, item: Option<Value>, trust: Trust, now: Timestamp) {
        self.pass_time(now);
        let tokens = estimate_tokens(&content);
        self.trust = self.trust.min(trust);
        self.tokens += tokens;
        self.last = Some(now);
        self.messages.push_back(Message { speaker, content, item, trust, tokens, at: now });
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.messages.len() > self.limits.messages || self.tokens > self.limits.tokens {
            let oldest = self.messages.iter().position(|m| m.speaker != Speaker::System).unwrap_or(0);
            if self.messages.is_empty() {
                break;
            }
            for _ in 0..self.goes_with(oldest) {
                if let Some(gone) = self.messages.remove(oldest) {
                    self.tokens -= gone.tokens;
                }
            }
        }
    }

    /// How many messages go together: one, or of opaque items the turn they belong to, up to where the next person speaks. A host may not
    /// understand an answer whose call is gone.
    fn goes_with(&self, oldest: usize) -> usize {
        if self.messages.get(oldest).is_none_or(|message| message.item.is_none()) {
            return 1;
        }
        let rest = self.messages.iter().skip(oldest + 1);
        1 + rest
            .take_while(|message| {
                message.item.is_some() && !matches!(message.speaker, Speaker::User | Speaker::System)
            })
            .count()
    }

    /// Whether messages go by turns: some of them are opaque.
    pub fn by_turn(&self) -> bool {
        self.messages.iter().any(|message| message.item.is_some())
    }

    /// Takes the newest message out.
    pub fn pop(&mut self) -> Option<Message> {
        let gone = self.messages.pop_back()?;
        self.tokens -= gone.tokens;
        Some(gone)
    }

    /// Drops what was said too long ago.
    pub fn pass_time(&mut self, now: Timestamp) {
        let limit = self.limits.seconds;
        self.messages.retain(|m| now.as_second().saturating_sub(m.at.as_second()) < limit);
        self.tokens = self.messages.iter().map(|m| m.tokens).sum();
        // The limits may be narrower than they were.
        self.make_room();
    }

    /// The messages in mind, oldest first.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.messages.iter()
    }

    /// Their tokens.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The conversation's label. It is not raised again when messages drop out.
    pub fn label(&self) -> Label {
        Label { trust: self.trust }
    }
}

/// The running conversations of a process, by user and session.
#[derive(Default)]
pub struct Workings {
    sessions: HashMap<(String, String), Working>,
}

impl fmt::Debug for Workings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workings {{ sessions: {} }}", self.sessions.len())
    }
}

impl Workings {
    /// The conversation of a user's session, begun if it is new. Those silent for too long are dropped.
    pub fn session(
        &mut self,
        user: &str,
        session: &str,
        limits: WorkingLimits,
        now: Timestamp,
    ) -> &mut Working {
        let key = (user.to_owned(), session.to_owned());
        if !self.sessions.contains_key(&key) {
            self.pass_time(now);
            if self.sessions.keys().filter(|(of, _)| of == user).count() >= MOST_OF_ONE {
                self.drop_silent(|of| of == user);
            }
            if self.sessions.len() >= MOST_SESSIONS {
                self.drop_silent(|_| true);
            }
        }
        let working = self.sessions.entry(key).or_insert_with(|| Working::new(limits));
        working.limits = limits;
        working.pass_time(now);
        working
    }

    /// The same, if there is one. One that was silent for too long is gone.
    pub fn known(
        &mut self,
        user: &str,
        session: &str,
        limits: WorkingLimits,
        now: Timestamp,
    ) -> Option<&mut Working> {
        let key = (user.to_owned(), session.to_owned());
        let last = self.sessions.get(&key)?.last;
        if last.is_some_and(|at| now.as_second().saturating_sub(at.as_second()) >= limits.seconds) {
            self.sessions.remove(&key);
            return None;
        }
        let working = self.sessions.get_mut(&key)?;
        working.limits = limits;
        working.pass_time(now);
        Some(working)
    }

    /// Drops the conversation that was silent for longest, of these users.
    fn drop_silent(&mut self, of: impl Fn(&str) -> bool) {
        let all = self.sessions.iter().filter(|((user, _), _)| of(user));
        if let Some(key) = all.min_by_key(|(_, working)| working.last).map(|(key, _)| key.clone()) {
            self.sessions.remove(&key);
        }
    }

    /// The end of a session: nothing of it is left.
    pub fn end(&mut self, user: &str, session: &str) {
        self.sessions.remove(&(user.to_owned(), session.to_owned()));
    }

    /// Drops conversations that have been silent for too long.
    pub fn pass_time(&mut self, now: Timestamp) {
        let silent = |at: Timestamp| now.as_second().saturating_sub(at.as_second());
        self.sessions.retain(|_, w| w.last.is_none_or(|at| silent(at) < w.limits.seconds));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }
}

/// The tokens of a text: its UTF-16 units divided by four, rounded up.
pub fn estimate_tokens(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum::<usize>().div_ceil(4)
}
