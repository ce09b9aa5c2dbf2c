//! How each verb is driven: a text of somebody's, and the verb done to it.

use super::super::add::{Add, New, NewLesson, NewNote, NewRecord, NewVault, add};
use super::super::anchor::{Anchor, Deed, anchor};
use super::super::convert::{Convert, convert};
use super::super::edit::{Edit, edit};
use super::super::invite::{self, InviteUser};
use super::super::join::{Join, join};
use super::super::life::{Move, archive, restore, retire, unarchive};
use super::super::list::{List, list};
use super::super::recall::{Recall, recall};
use super::super::remember::{NewFact, NewTurn, Remember, remember};
use super::super::search::{Search, search};
use super::super::show::{Show, history, show};
use super::super::trail::{AskWhy, Audit, Last, audit, last, why};
use super::super::users::{self, AddUser, MakeToken, RemoveUser};
use super::super::{Outcome, Yes, remove, shelves, status, undo};
use super::desk::Desk;
use crate::Call;
use crate::convert::Conversion;
use crate::gate::inbox::Item;
use crate::verbs::review::{self, accept_draft, shown};
use ShelfName::{Notes, Records, Tiers, Topics, Vault};
use heirloom_core::{Code, MemoryId, Owner, ShelfName, Verb, fault::Result};

/// Whether a row is driven on a text, and on which shelves. The others are driven in `house.rs`.
pub(super) enum Entry {
    Driven(&'static [ShelfName]),
    NoText(&'static str),
}

const ALL: &[ShelfName] = &[Records, Topics, Notes, Vault, Tiers];
const FILES: &[ShelfName] = &[Records, Topics, Notes, Vault];

/// Every row of the table.
pub(super) fn entry(verb: Verb) -> Entry {
    use Entry::{Driven, NoText};
    match verb {
        Verb::Show | Verb::History | Verb::Retire | Verb::Restore | Verb::Undo | Verb::Forget => Driven(ALL),
        Verb::Accept | Verb::Reject => Driven(ALL),
        Verb::List | Verb::Search | Verb::Recall | Verb::Status | Verb::Audit | Verb::Why | Verb::Last => {
            Driven(&[Records])
        }
        Verb::Brief => Driven(&[Topics]),
        Verb::Snapshot | Verb::Compact => Driven(&[Vault]),
        // A note is what was said: it has no edit, and the verb says so before it asks anybody.
        Verb::Edit | Verb::Join => Driven(&[Records, Topics, Vault, Tiers]),
        Verb::Add => Driven(FILES),
        Verb::Remember | Verb::Turn | Verb::Clear => Driven(&[Tiers]),
        // Lessons and notes have no place that a newer one takes; a fact that contradicts another waits by the gate's own rule.
        Verb::Supersede => Driven(&[Records, Vault]),
        // The other shelves have no archive.
        Verb::Archive | Verb::Unarchive => Driven(&[Records, Topics]),
        Verb::Convert => Driven(ALL),
        // What is known of a person cites no code.
        Verb::Anchor => Driven(FILES),
        Verb::Redact => Driven(&[Records]),
        Verb::RemoveEarly => {
            NoText("says of each retired record what became of it; who may ask for it is tested with upkeep")
        }
        Verb::UserList | Verb::UserAdd | Verb::UserToken | Verb::UserInvite | Verb::UserRemove => {
            Driven(&[Tiers])
        }
        Verb::Confirm => NoText("checks a PIN; it touches no memory"),
        Verb::Review => NoText("lists drafts; deciding about one is driven as accept and reject"),
        Verb::Verify | Verb::Scan => {
            NoText("looks at files and changes none; cutting out is driven as redact")
        }
        Verb::Doctor => NoText("looks at hooks, databases and settings; it touches no memory"),
        Verb::Export => NoText("writes a copy elsewhere; the memories stay as they are"),
        Verb::ConfigShow | Verb::ConfigSet | Verb::ConfigGuarded => {
            NoText("settings are no text of a shelf; their guard has its own tests")
        }
        Verb::Init | Verb::Setup | Verb::Uninstall => {
            NoText("folders and the settings of coding agents; no text of a shelf")
        }
        Verb::Working => NoText("lives in the process that serves a conversation and is never stored"),
        Verb::Import => {
            NoText("each memory goes in as if it were added, which is driven as add and remember")
        }
        Verb::Repair => NoText("writes derived files again; the memories they are made from stay"),
        Verb::Sync => NoText("exchanges lessons with another place; each arrives as if it were added"),
        Verb::Gc | Verb::Expire => {
            NoText("acts by the user's settings on what is past its time, for no caller's sake")
        }
        Verb::Resurrect => NoText("lifts the bar for what was forgotten; the texts go in as an import's do"),
        Verb::AllUsers => NoText("carries the memories of other users, of whom nobody here is the owner"),
    }
}

/// What a verb is done to.
#[derive(Default)]
pub(super) struct Subject {
    pub(super) id: String,
    /// The number of the change to take back.
    number: Option<String>,
    /// The draft to decide about.
    item: Option<Item>,
    /// The memory to join it with, which has the same owner.
    other: String,
}

/// How a verb ended that was not refused.
#[derive(Debug, PartialEq)]
pub(super) enum Ended {
    Done,
    Waits,
}

fn of<T>(outcome: Result<Outcome<T>>) -> Result<Ended> {
    outcome.map(|outcome| match outcome {
        Outcome::Done(_) => Ended::Done,
        Outcome::Waits(_) => Ended::Waits,
    })
}

fn each<T>(outcomes: Result<Vec<Outcome<T>>>) -> Result<Ended> {
    of(outcomes.map(|mut all| all.pop().unwrap()))
}

fn plain<T>(answer: Result<T>) -> Result<Ended> {
    answer.map(|_| Ended::Done)
}

fn fact(text: &str) -> NewFact {
    NewFact { text: text.into(), ..NewFact::default() }
}

fn register(text: &str) -> New {
    New::Register(NewVault {
        text: text.into(),
        topic: Some("task".into()),
        scope: Some("orion".into()),
        ..NewVault::default()
    })
}

fn decision(text: &str) -> New {
    New::Record(NewRecord { category: "decision".into(), text: text.into(), ..NewRecord::default() })
}

/// A text of a shelf; `more` tells two of them apart.
fn text_of(shelf: ShelfName, more: bool) -> New {
    let words = |one: &'static str, other: &'static str| if more { other } else { one };
    match shelf {
        Records => decision(words("Use PostgreSQL because we need jsonb", "Use Redis because it is quick")),
        Topics => New::Lesson(NewLesson {
            text: words("Rebase lost commits, fixed by reflog", "Builds hung, fixed by a timeout").into(),
            topic: Some("git/rebase".into()),
            ..NewLesson::default()
        }),
        Notes => New::Note(NewNote {
            text: words(
                "Carts are emptied at night.\nNobody minds.",
                "Mails go out at noon.\nEverybody reads them.",
            )
            .into(),
            ..NewNote::default()
        }),
        Vault if more => New::Register(NewVault {
            text: "Reading the parser".into(),
            topic: Some("other".into()),
            scope: Some("orion".into()),
            ..NewVault::default()
        }),
        Vault => register("Working on the importer"),
        Tiers => New::Fact(fact(words("I work at Acme", "I like green tea"))),
    }
}

/// A text on a shelf that belongs to this owner, in the state that the verb needs.
pub(super) fn prepare(desk: &Desk, verb: Verb, shelf: ShelfName, owner: Owner) -> Subject {
    let writer = match (owner, shelf) {
        (Owner::Person, _) => "person",
        (_, Tiers) => "token read,write,facts",
        _ => "agent",
    };
    let by = |at: &str| desk.call_at(desk.whose(writer), at);
    let added = add(&by("2026-01-08T09:00:00Z"), &Add::of(text_of(shelf, false))).unwrap().done().unwrap();
    let id = added.id.to_string();
    let mut subject = Subject { id: id.clone(), ..Subject::default() };
    let moved = Move { ids: vec![id.clone()], reason: Some("no".into()) };
    match verb {
        Verb::Restore | Verb::Supersede if verb == Verb::Restore || shelf == Records => {
            each(retire(&by("2026-01-08T10:00:00Z"), &moved)).unwrap();
        }
        Verb::Undo => {
            each(retire(&by("2026-01-08T10:00:00Z"), &moved)).unwrap();
            let changes = undo::list(&desk.call(desk.whose("person"))).unwrap();
            subject.number = Some(changes[0].number.clone());
        }
        Verb::Join => {
            let more = add(&by("2026-01-08T10:00:00Z"), &Add::of(text_of(shelf, true))).unwrap();
            subject.other = more.done().unwrap().id.to_string();
        }
        Verb::Unarchive => drop(each(archive(&by("2026-01-08T10:00:00Z"), &moved)).unwrap()),
        Verb::Compact => {
            let ask = Edit { id: id.clone(), text: Some("Working on the parser".into()), ..Edit::default() };
            of(edit(&by("2026-01-08T10:00:00Z"), &ask)).unwrap();
        }
        Verb::Redact => {
            let path = desk.memory().join("decisions/use-postgresql.json");
            let secret = ["ghp_", "aB3dE5gH7jK9mN1pQ3", "sT5vW7yZ9bC1dE3fG5"].concat();
            let text = std::fs::read_to_string(&path).unwrap().replace("jsonb", &format!("jsonb {secret}"));
            std::fs::write(&path, text).unwrap();
        }
        Verb::Accept | Verb::Reject => subject.item = Some(waiting(desk, shelf)),
        _ => {}
    }
    if owner == Owner::Nobody {
        desk.lose_the_trust_book();
    }
    subject
}

/// A change that waits: an agent asked for it on another text of the shelf, which is a person's.
fn waiting(desk: &Desk, shelf: ShelfName) -> Item {
    let person = desk.call_at(desk.whose("person"), "2026-01-08T11:00:00Z");
    let id = add(&person, &Add::of(text_of(shelf, true))).unwrap().done().unwrap().id.to_string();
    let agent = desk.call_at(desk.whose("agent"), "2026-01-08T12:00:00Z");
    let moved = Move { ids: vec![id], reason: None };
    let key = match retire(&agent, &moved).unwrap().pop().unwrap() {
        Outcome::Waits(waiting) => waiting.key,
        Outcome::Done(done) => panic!("{} did not wait", done.id),
    };
    let now = person.project().world().now;
    person.inboxes().unwrap().iter().find_map(|inbox| inbox.get(&key, now).ok()).unwrap()
}

/// Does the verb to the subject.
pub(super) fn act(call: &Call, verb: Verb, shelf: ShelfName, subject: &Subject) -> Result<Ended> {
    let id = subject.id.clone();
    let whole = || MemoryId::parse(&id).unwrap();
    let moved = Move { ids: vec![id.clone()], reason: Some("no".into()) };
    match verb {
        Verb::Show => plain(show(call, &Show { id })),
        Verb::History => plain(history(call, &Show { id })),
        Verb::List => plain(list(call, &List::default())),
        Verb::Search => {
            plain(search(call, &Search { words: vec!["postgresql".into()], ..Search::default() }))
        }
        Verb::Recall => {
            plain(recall(call, &Recall { prompt: "why postgresql?".into(), ..Recall::default() }))
        }
        Verb::Brief => plain(shelves::brief(call, "rebase")),
        Verb::Snapshot => plain(shelves::snapshot(call, None, &[call.caller().agent().unwrap_or_default()])),
        Verb::Status => plain(status::status(call)),
        Verb::Audit => plain(audit(call, &Audit { id: None, verdict: None, event: None, limit: 5 })),
        Verb::Last => plain(last(call, &Last { hook: None, limit: 5 })),
        // Nothing was given to anybody, and to say so is an answer.
        Verb::Why => match why(call, &AskWhy { id }) {
            Err(fault) if fault.code == Code::NotFound => Ok(Ended::Done),
            answer => plain(answer),
        },
        Verb::UserList => plain(users::list(call)),
        Verb::Retire => each(retire(call, &moved)),
        Verb::Restore => each(restore(call, &moved)),
        Verb::Archive => each(archive(call, &moved)),
        Verb::Unarchive => each(unarchive(call, &moved)),
        Verb::Edit => of(edit(call, &changed(shelf, id))),
        Verb::Join => {
            let change = changed(shelf, id.clone());
            of(join(call, &Join { id, other: subject.other.clone(), change, ..Join::default() }))
        }
        Verb::Add => of(add(call, &Add::of(text_of(shelf, true)))),
        Verb::Supersede => {
            let new = if shelf == Vault { register("Resting for a while") } else { text_of(shelf, false) };
            of(add(call, &Add::of(new)))
        }
        Verb::Remember => {
            of(remember(call, &Remember { fact: fact("I like green tea"), yes: Yes::default() }))
        }
        Verb::Turn => {
            let turn = NewTurn { text: "Where do carts live?".into(), ..NewTurn::default() };
            of(add(call, &Add::of(New::Episode(turn))))
        }
        Verb::Convert => {
            let wanted =
                Conversion { words: Some("Start the database first".into()), ..Conversion::default() };
            let kind = if shelf == Topics { "decision" } else { "tech_debt" };
            of(convert(call, &Convert { id, kind: kind.into(), wanted, seen: None }))
        }
        Verb::Anchor => {
            of(anchor(call, &Anchor { id, deed: Deed::Add(vec!["queue.rs#fetch".into()]), from: None }))
        }
        Verb::Undo => {
            let undone = undo::undo(call, &undo::Undo { number: subject.number.clone(), dry_run: false })?;
            assert_eq!(undone.status, "undone");
            Ok(Ended::Done)
        }
        Verb::Forget => plain(remove::forget(call, &whole(), false)),
        Verb::Clear => plain(remove::clear(call, &remove::Clear { tier: "all".into(), shred: false })),
        Verb::Compact => plain(remove::compact(call, &remove::Compact::default())),
        Verb::Redact => plain(remove::redact(call, &remove::Redact { fix: true })),
        Verb::Accept => plain(accept_draft(call, &shown(call, subject.item.clone().unwrap()))),
        Verb::Reject => plain(review::reject(call, &subject.item.as_ref().unwrap().key)),
        Verb::UserAdd => plain(users::add(call, &AddUser { user: "fresh".into() })),
        Verb::UserToken => {
            let ask = MakeToken { user: "other".into(), name: None, scopes: None, days: None, hours: None };
            plain(users::token(call, &ask))
        }
        Verb::UserInvite => {
            plain(invite::invite(call, &InviteUser { user: "other".into(), ..InviteUser::default() }))
        }
        Verb::UserRemove => {
            plain(users::remove(call, &RemoveUser { user: "other".into(), shred: false, dry_run: false }))
        }
        _ => unreachable!("{} is not driven", verb.name()),
    }
}

fn changed(shelf: ShelfName, id: String) -> Edit {
    let field = |name: &str| vec![(name.to_owned(), "it says NEW".to_owned())];
    let edit = Edit { id, ..Edit::default() };
    match shelf {
        Records => Edit { fields: field("rationale"), ..edit },
        Topics => Edit { fields: field("solution"), ..edit },
        Tiers => Edit { text: Some("I work at NEW".into()), ..edit },
        _ => Edit { text: Some("Working on something NEW".into()), ..edit },
    }
}
