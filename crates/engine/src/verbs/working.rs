//! Working memory: the running conversation of a user's session, kept by the process that serves it.
//!
//! Comes in: messages, a session. Goes out: those that still fit, oldest first, with the trust of the whole. It is bounded in messages,
//! tokens and time by the user's settings; the oldest message goes first, the system's last. Secrets are cut out of what is not the system's own.
//! It is the caller's own: nobody names another user. Never here: a file, a line in a log or an audit; a process that ends forgets it.

use super::{asked, told};
use crate::call::Call;
use crate::threads::locked;
use crate::working::{Message, WorkingLimits};

pub use crate::working::Speaker;
use heirloom_core::{Channel, Code, Fault, Owner, ShelfName, Trust, Verb, fault::Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest name of a session, in bytes.
const NAME_MAX: usize = 256;

/// Something that was said.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// Who said it: `system`, `user`, `assistant` or `tool`.
    pub speaker: Speaker,
    /// What.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// An item of a host's own form, kept as it is, in place of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// Whether it comes from somewhere outside: a web page, a file, another person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
}

impl std::fmt::Debug for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Said {{ speaker: {:?}, .. }}", self.speaker)
    }
}

/// Messages to be kept in mind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// The session.
    pub session: String,
    /// The messages, in the order in which they were said.
    pub messages: Vec<Said>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its name.
    pub session: String,
}

/// A message in mind.
#[derive(Clone, PartialEq, Serialize)]
pub struct InMind {
    /// Who said it.
    pub speaker: Speaker,
    /// What, without secrets; nothing of an opaque item.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// An item of a host's own form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// How far to believe it.
    pub trust: Trust,
    /// Its length in tokens.
    pub tokens: usize,
}

impl From<&Message> for InMind {
    fn from(message: &Message) -> InMind {
        let Message { speaker, content, item, trust, tokens, .. } = message;
        let content = if item.is_some() { String::new() } else { content.clone() };
        InMind { speaker: *speaker, content, item: item.clone(), trust: *trust, tokens: *tokens }
    }
}

impl std::fmt::Debug for InMind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InMind {{ speaker: {:?}, tokens: {}, .. }}", self.speaker, self.tokens)
    }
}

/// What is in mind after messages came.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kept {
    /// The session.
    pub session: String,
    /// How many messages are in mind.
    pub count: usize,
    /// Their tokens.
    pub tokens: usize,
    /// How many messages made room.
    pub dropped: usize,
    /// Whether the session begins here: nothing was kept of it. It is new, it was cleared, its time ran out, or the server was started again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new: bool,
    /// Whether opaque items are among them, which make room turn by turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_turn: bool,
    /// The lowest trust of all that was said so far.
    pub trust: Trust,
}

/// A running conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conversation {
    /// The session.
    pub session: String,
    /// The messages in mind, oldest first.
    pub messages: Vec<InMind>,
    /// Their tokens.
    pub tokens: usize,
    /// The lowest trust of all that was said so far, also of what dropped out.
    pub trust: Trust,
    /// Whether nothing is kept of the session: it is new, it was cleared, its time ran out, or the server was started again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new: bool,
}

/// The newest message, taken out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Popped {
    /// The session.
    pub session: String,
    /// The message, if there was one.
    pub message: Option<InMind>,
}

/// A conversation that is over.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Over {
    /// The session.
    pub session: String,
    /// How many messages were in mind.
    pub cleared: usize,
}

/// Keeps messages in mind.
pub fn append(call: &Call, ask: &Append) -> Result<Kept> {
    let user = permitted(call, &ask.session)?;
    let now = call.project().world().now;
    if ask.messages.iter().any(|said| said.item.is_some() && !said.content.is_empty()) {
        return Err(Fault::new(Code::Usage, "a message has a content or an item, not both")
            .hint("leave the content out of a message with an item"));
    }
    let mut all = locked(call.workings());
    let new = all.known(&user, &ask.session, limits(call), now).is_none();
    let working = all.session(&user, &ask.session, limits(call), now);
    let before = working.messages().len();
    for said in &ask.messages {
        match &said.item {
            None => working.push(said.speaker, &said.content, trust(call, said), now, |text| {
                call.screen().redacted(text)
            }),
            Some(item) => {
                let mut item = item.clone();
                if said.speaker != Speaker::System {
                    told::redact_in(call.screen(), &mut item);
                }
                working.push_item(said.speaker, item, trust(call, said), now);
            }
        }
    }
    let count = working.messages().len();
    Ok(Kept {
        session: ask.session.clone(),
        count,
        tokens: working.tokens(),
        dropped: before + ask.messages.len() - count,
        new,
        by_turn: working.by_turn(),
        trust: working.label().trust,
    })
}

/// The conversation as it is in mind now.
pub fn read(call: &Call, ask: &Session) -> Result<Conversation> {
    let user = permitted(call, &ask.session)?;
    let now = call.project().world().now;
    let mut all = locked(call.workings());
    let working = all.known(&user, &ask.session, limits(call), now);
    Ok(Conversation {
        session: ask.session.clone(),
        new: working.is_none(),
        messages: working.iter().flat_map(|working| working.messages().map(InMind::from)).collect(),
        tokens: working.as_ref().map_or(0, |working| working.tokens()),
        trust: working.map_or(Trust::High, |working| working.label().trust),
    })
}

/// Takes the newest message out. The trust of the conversation is not raised by that: what was said was said.
pub fn pop(call: &Call, ask: &Session) -> Result<Popped> {
    let user = permitted(call, &ask.session)?;
    let now = call.project().world().now;
    let mut all = locked(call.workings());
    let gone = all.known(&user, &ask.session, limits(call), now).and_then(|working| working.pop());
    Ok(Popped { session: ask.session.clone(), message: gone.as_ref().map(InMind::from) })
}

/// Ends a conversation: nothing of it is left.
pub fn clear(call: &Call, ask: &Session) -> Result<Over> {
    let user = permitted(call, &ask.session)?;
    let now = call.project().world().now;
    let mut all = locked(call.workings());
    let known = all.known(&user, &ask.session, limits(call), now);
    let cleared = known.map_or(0, |working| working.messages().len());
    all.end(&user, &ask.session);
    Ok(Over { session: ask.session.clone(), cleared })
}

/// Whose conversation it is, if the caller may keep one. A refusal is audited.
fn permitted(call: &Call, session: &str) -> Result<String> {
    asked(call, Verb::Working, ShelfName::Tiers, Owner::Agent)?;
    if session.trim().is_empty() || session.len() > NAME_MAX {
        return Err(Fault::new(Code::Usage, "this cannot be the name of a session")
            .hint(format!("use 1 to {NAME_MAX} bytes")));
    }
    Ok(call.tiers()?.who().user().to_owned())
}

fn limits(call: &Call) -> WorkingLimits {
    WorkingLimits::from(&call.settings().tiers)
}

/// How far to believe what was said: by who said it, and never further than whoever passes it on.
fn trust(call: &Call, said: &Said) -> Trust {
    let by = match said.speaker {
        _ if said.external => Channel::Web,
        Speaker::System => return call.caller().channel().row().trust,
        Speaker::User => Channel::OwnerMessage,
        Speaker::Assistant => Channel::Agent,
        Speaker::Tool => Channel::ToolRead,
    };
    by.row().trust.min(call.caller().channel().row().trust)
}
