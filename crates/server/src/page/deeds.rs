//! What a person does on the page: one arm for each form, each a verb.
//!
//! Comes in: a form of the page's own, and a person's call. Goes out: where to go on and what became of it, with the number that takes it back. A PIN
//! in the form is checked first. Never here: whether it may be done.

use super::form::{self, Form};
use super::layout::Screen;
use super::{Page, Said, users};
use heirloom_core::kind::Shape;
use heirloom_core::{Code, Fault, MemoryId, Scopes, fault::Result};
use heirloom_engine::Call;
use heirloom_engine::verbs::config::{self, Answer, Set, Setting, Unset, check_pin};
use heirloom_engine::verbs::decide::{self, Accept, Reject, Seen};
use heirloom_engine::verbs::edit::{Edit, edit};
use heirloom_engine::verbs::invite::{self, InviteUser};
use heirloom_engine::verbs::join::{Join, join};
use heirloom_engine::verbs::life::{self, Move};
use heirloom_engine::verbs::remove::{self, Gone};
use heirloom_engine::verbs::undo::{self, Undo};
use heirloom_engine::verbs::users::{AddUser, MakeToken, RevokeToken};
use heirloom_engine::verbs::{Done as Moved, Outcome};
use serde_json::Value;

/// What becomes of a form.
pub(crate) enum Done {
    /// The browser goes there, and this is said.
    Went { to: String, said: Said },
    /// A screen that is shown once.
    Shows(Screen),
}

/// Does it.
pub(crate) fn run(mut call: Call, page: &Page, deed: &str, form: &Form) -> Result<Done> {
    if deed == "confirm" {
        return confirm(&call, page, form);
    }
    if let Some(pin) = form.said("pin")
        && let Answer::Wrong { left } = check_pin(&mut call, &pin)?
    {
        return Err(Fault::new(Code::NeedsPerson, format!("that is not the PIN; {left} more tries"))
            .hint("go back and type it again"));
    }
    let call = &call;
    match deed {
        "accept" => accept(call, form),
        "reject" => reject(call, form),
        "retire" => moved(call, form, life::retire),
        "restore" => moved(call, form, life::restore),
        "archive" => moved(call, form, life::archive),
        "unarchive" => moved(call, form, life::unarchive),
        "forget" => forget(call, form),
        "edit" => edited(call, form),
        "join" => joined(call, form),
        "undo" => undone(call, form),
        "set" => set(call, form),
        "unset" => unset(call, form),
        "user" => add_user(call, form),
        "token" => make_token(call, form),
        "revoke" => revoke(call, form),
        "invite" => invited(call, page, form),
        _ => Err(Fault::new(Code::NotFound, "unknown form").hint("reload the page")),
    }
}

/// Somebody who signed in shows the PIN; from then on they count as a person until the session ends.
fn confirm(call: &Call, page: &Page, form: &Form) -> Result<Done> {
    match invite::confirm(call, form.text("pin").unwrap_or_default())? {
        Answer::Right => {
            page.seat.confirm();
            Ok(went(form, "/", "You are confirmed as a person.", None))
        }
        Answer::Wrong { left } => {
            Err(Fault::new(Code::NeedsPerson, format!("that is not the PIN; {left} more tries"))
                .hint("type it again"))
        }
    }
}

fn invited(call: &Call, page: &Page, form: &Form) -> Result<Done> {
    // A page that ends with this process has no address that a link could lead to.
    let server = match page.seat.is_guest() {
        true => Some(page.origin.clone()),
        false => form.said("server"),
    };
    let user = form.said("user").unwrap_or_default();
    let server = server.ok_or_else(|| {
        Fault::new(Code::Usage, "the address of the server is missing")
            .hint("give the address of the server where people sign in")
    })?;
    let made = invite::invite(call, &InviteUser { user, hours: None, server: Some(server) })?;
    Ok(Done::Shows(users::invited(&made)))
}

fn went(form: &Form, usual: &str, text: impl Into<String>, undo: Option<String>) -> Done {
    Done::Went {
        to: form.said("to").unwrap_or_else(|| usual.to_owned()),
        said: Said { text: text.into(), undo },
    }
}

/// The number of what was changed last, for the button that takes it back.
fn last(call: &Call) -> Option<String> {
    undo::list(call)
        .ok()?
        .into_iter()
        .find(|change| !change.undone && change.undoes.is_none())
        .map(|change| change.number)
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn accept(call: &Call, form: &Form) -> Result<Done> {
    let shown: Vec<Seen> = form
        .all("shown")
        .filter_map(|pair| pair.split_once(' '))
        .map(|(seen, key)| Seen { key: key.to_owned(), seen: seen.to_owned() })
        .collect();
    let done = decide::accept(call, &Accept { shown })?;
    let mut text = format!("Accepted {}.", count(done.accepted.len() + done.stored.len(), "item"));
    for failed in &done.failed {
        text.push_str(&format!(" {} was not: {}.", failed.key, failed.message));
    }
    Ok(went(form, "/review", text, last(call)))
}

fn reject(call: &Call, form: &Form) -> Result<Done> {
    let keys: Vec<String> = form.all("key").map(str::to_owned).collect();
    let gone = decide::reject(call, &Reject { keys })?;
    Ok(went(form, "/review", format!("Rejected {}.", count(gone.len(), "draft")), last(call)))
}

type Life = fn(&Call, &Move) -> Result<Vec<Outcome<Moved>>>;

fn moved(call: &Call, form: &Form, run: Life) -> Result<Done> {
    let ids: Vec<String> = form.all("id").map(str::to_owned).collect();
    let outcomes = run(call, &Move { ids: ids.clone(), reason: form.said("reason") })?;
    let mut words: Vec<String> = Vec::new();
    let mut waits = 0;
    for outcome in &outcomes {
        match outcome {
            Outcome::Done(done) => words.push(done.status.replace('_', " ")),
            Outcome::Waits(_) => waits += 1,
        }
    }
    words.dedup();
    let mut text = format!(
        "{}: {}.",
        count(outcomes.len() - waits, "memory").replace("memorys", "memories"),
        words.join(", ")
    );
    if waits > 0 {
        text.push_str(&format!(" {waits} wait for review."));
    }
    let usual = ids.first().map_or("/".to_owned(), |id| form::memory(id));
    Ok(went(form, &usual, text, last(call)))
}

fn forget(call: &Call, form: &Form) -> Result<Done> {
    let id = form.text("id").and_then(MemoryId::parse);
    let id = id.ok_or_else(|| {
        Fault::new(Code::Usage, "no memory was named").hint("open the memory and choose Forget there")
    })?;
    let Gone { forgotten: gone, unreached } = remove::forget(call, &id, false)?;
    let mut text = format!("Forgotten for good: {} in {}.", gone.id, count(gone.places.len(), "place"));
    if !gone.in_git.is_empty() {
        text.push_str(&format!(" Git still holds earlier versions of {}.", gone.in_git.join(", ")));
    }
    if !unreached.is_empty() {
        text.push_str(&format!(" Not reached: {}.", unreached.join(", ")));
    }
    Ok(went(form, "/search", text, None))
}

/// The change that a form asks for.
fn change(call: &Call, form: &Form) -> Edit {
    let id = form.text("id").unwrap_or_default();
    let kind = MemoryId::parse(id).map(|id| id.kind());
    let known = kind
        .as_ref()
        .and_then(|kind| call.settings().category(kind.name()))
        .map(|one| one.fields())
        .unwrap_or_default();
    let mut fields: Vec<(String, String)> = Vec::new();
    for (name, value) in form.below("field.") {
        let shape = known.iter().find(|field| field.name == name).map(|field| field.shape);
        match shape {
            Some(Shape::List { .. } | Shape::Alternatives | Shape::Examples) => {
                let lines = value.lines().map(str::trim).filter(|line| !line.is_empty());
                fields.extend(lines.map(|line| (name.to_owned(), line.to_owned())));
            }
            _ => fields.push((name.to_owned(), value.to_owned())),
        }
    }
    let tags = form
        .text("tags")
        .unwrap_or_default()
        .split([' ', ','])
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect();
    Edit {
        id: id.to_owned(),
        version: form.said("version"),
        title: form.said("title"),
        fields,
        tags,
        whole: form.text("whole").map(str::to_owned),
        message: form.said("message"),
        ..Edit::default()
    }
}

fn joined(call: &Call, form: &Form) -> Result<Done> {
    let ask = Join {
        id: form.text("id").unwrap_or_default().to_owned(),
        version: form.said("version"),
        other: form.text("other").unwrap_or_default().to_owned(),
        seen: form.said("seen"),
        change: change(call, form),
    };
    Ok(match join(call, &ask)? {
        Outcome::Done(done) => {
            let text = format!("Joined: {} stays, {} is {}.", done.kept.id, done.other, done.became);
            went(form, "/review", text, last(call))
        }
        Outcome::Waits(_) => went(form, "/review", "This change waits for a person.", None),
    })
}

fn edited(call: &Call, form: &Form) -> Result<Done> {
    Ok(match edit(call, &change(call, form))? {
        Outcome::Done(done) => {
            let mut text = "Saved.".to_owned();
            done.notes.iter().for_each(|note| text.push_str(&format!(" {note}.")));
            went(form, &form::memory(done.id.as_str()), text, last(call))
        }
        Outcome::Waits(_) => went(form, "/review", "This change waits for a person.", None),
    })
}

fn undone(call: &Call, form: &Form) -> Result<Done> {
    let done = undo::undo(call, &Undo { number: form.said("number"), dry_run: false })?;
    if done.status == "changed_since" {
        let ids: Vec<&str> =
            done.memories.iter().filter(|step| step.changed_since).map(|step| step.id.as_str()).collect();
        return Err(Fault::new(
            Code::OccConflict,
            format!("{} changed since; nothing was undone", ids.join(", ")),
        )
        .hint("look at its history first"));
    }
    Ok(went(form, "/changes", format!("Undone: {}.", done.number), done.undo))
}

/// A value as a person types it: JSON where it is some, a text otherwise.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn set(call: &Call, form: &Form) -> Result<Done> {
    let key = form.text("key").unwrap_or_default().to_owned();
    let setting = Setting { key: key.clone(), value: value(form.text("value").unwrap_or_default()) };
    config::set(call, &Set { settings: vec![setting], user: form.text("of") == Some("user") })?;
    Ok(went(form, "/settings", format!("{key} is set."), None))
}

fn unset(call: &Call, form: &Form) -> Result<Done> {
    let key = form.text("key").unwrap_or_default().to_owned();
    config::unset(call, &Unset { key: key.clone(), user: form.text("of") == Some("user") })?;
    Ok(went(form, "/settings", format!("{key} is removed."), None))
}

fn add_user(call: &Call, form: &Form) -> Result<Done> {
    let added =
        heirloom_engine::verbs::users::add(call, &AddUser { user: form.said("user").unwrap_or_default() })?;
    Ok(went(form, "/users", format!("{} is {}.", added.user, added.status), None))
}

fn make_token(call: &Call, form: &Form) -> Result<Done> {
    let scopes: Vec<&str> = form.all("scope").collect();
    let scopes = Scopes::parse(&scopes.join(","))
        .map_err(|word| Fault::new(Code::Validation, format!("there is no scope `{word}`")))?;
    let days = form.said("days").and_then(|days| days.parse().ok());
    let ask = MakeToken {
        user: form.said("user").unwrap_or_default(),
        name: form.said("name"),
        scopes: Some(scopes),
        days,
        hours: None,
    };
    Ok(Done::Shows(users::made(&heirloom_engine::verbs::users::token(call, &ask)?)))
}

fn revoke(call: &Call, form: &Form) -> Result<Done> {
    let ask = RevokeToken { user: form.said("user").unwrap_or_default(), name: form.said("name") };
    let gone = heirloom_engine::verbs::users::revoke(call, &ask)?;
    Ok(went(form, "/users", format!("The token of {} is revoked.", gone.user), None))
}
