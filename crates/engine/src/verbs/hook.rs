//! What happens at each event of a coding agent.
//!
//! Comes in: an event in our own words, and what its host can do. Goes out: an answer in no host's words, what is to be noted of the run, and
//! what another process should do meanwhile. What is given, guarded, captured and held up is decided here or below, within the budgets here.
//! Never here: a host's wire format, an exit code, a clock. A hook fails open: a fault is for the trace, and the agent goes on.

use super::recall::{self, Recall};
use crate::budget;
use crate::call::Call;
use crate::gate::fields::without_secrets;
use crate::hook::guard::{self, Attempt, Inside, Memory};
use crate::hook::trace::{self, Run};

pub use crate::hook::trace::Ended;
use crate::hook::{gather, judge, start, stop, validate};
use crate::recall::ledger;
use heirloom_core::settings::{Key, Origin, TriageMode, Warning};
use heirloom_core::{fault::Result, time};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Most characters a session is told at its start: it is told them whatever it is about.
const START_MAX: usize = 2_400;

/// Where transcripts may be read from and files for drafting models have their well-known names: the folder all agents agree on.
const TEMP: &str = "/tmp";

/// How to save without the skill.
const WITHOUT_SKILL: &str = "Without that skill: read the context file of each category, then run `heirloom add CATEGORY \"what holds, because of \
    what\"` for what is worth keeping; the command checks it and says what is wrong. Then you may stop.";

/// What a host is and can do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The agent's name.
    pub agent: String,
    /// Most characters it takes at a prompt.
    pub context_max: usize,
    /// Whether it has the skill that saves.
    pub has_skill: bool,
    /// Whether a stop that is held up makes it go on.
    pub goes_on_held: bool,
    /// Whether a stop that goes through with a suggestion makes it go on.
    pub goes_on_told: bool,
    /// Where it keeps its transcripts, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<PathBuf>,
    /// The temporary folder of this user, for all other passing files and for transcripts as well; the one all agents agree on without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temp: Option<PathBuf>,
}

/// An event and where it happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happened {
    /// What happened.
    pub event: Event,
    /// The session, if the host names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where the conversation is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
    /// The session's working folder.
    pub cwd: PathBuf,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A session begins.
    SessionStart {
        /// Whether the model has lost what it was told before.
        afresh: bool,
    },
    /// A person asked something.
    Prompt {
        /// What.
        text: String,
    },
    /// A tool is about to write.
    PreWrite {
        /// What it would write.
        targets: Vec<Target>,
        /// The folder the tool works in, if that is not the session's.
        folder: Option<PathBuf>,
    },
    /// A tool has written.
    PostWrite {
        /// What it wrote.
        targets: Vec<Target>,
        /// The folder the tool works in, if that is not the session's.
        folder: Option<PathBuf>,
    },
    /// The model has finished its turn.
    Stop {
        /// It went on because an earlier stop was held up.
        active: bool,
        /// What was asked in this turn, if the host says so.
        prompt: Option<String>,
        /// The model's last message, if the host says so.
        last_message: Option<String>,
    },
    /// The context is about to be made smaller.
    PreCompact,
    /// The session is over.
    SessionEnd,
}

/// What a tool writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A file.
    File(String),
    /// Whatever this shell command writes.
    Command(String),
}

impl Target {
    fn attempt(&self) -> Attempt<'_> {
        match self {
            Target::File(path) => Attempt::File(path),
            Target::Command(command) => Attempt::Command(command),
        }
    }
}

/// What a host is told.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Nothing: the agent goes on as if we were not there.
    Nothing,
    /// Text for the model's context.
    Context(String),
    /// The tool may not run, and why.
    Deny(String),
    /// The tool has run and did harm, and what the model should do.
    Undo(String),
    /// The stop is held up until this is done.
    Hold(String),
    /// The stop goes through; the model or the person is told.
    Suggest(String),
}

/// What takes long, for another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Later {
    /// Bring the index into memory and make the vectors that are missing.
    Embed,
    /// Have the endpoint look for facts in what was said.
    Propose,
    /// Remove turns whose time is over.
    Expire,
}

/// What a hook did, for the answer and for the trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Did {
    /// What the host is told.
    pub answer: Answer,
    /// How the run ended.
    pub ended: Ended,
    /// What it saw, without any text of it.
    pub saw: String,
    /// Why it did what it did, a line each.
    pub because: Vec<String>,
    /// Lines for the log of whoever runs the agent.
    pub log: Vec<String>,
    /// What another process should do.
    pub later: Vec<Later>,
}

impl Did {
    fn of(answer: Answer, ended: Ended, saw: impl Into<String>, because: Vec<String>) -> Did {
        Did { answer, ended, saw: saw.into(), because, log: Vec::new(), later: Vec::new() }
    }

    fn nothing(saw: impl Into<String>, why: impl Into<String>) -> Did {
        Did::of(Answer::Nothing, Ended::Silent, saw, vec![why.into()])
    }

    /// A run that failed, and why.
    pub fn failed(why: impl Into<String>) -> Did {
        Did { ended: Ended::Failed, ..Did::nothing("", why) }
    }
}

/// What of the settings cannot be used, as far as a host may hear of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Warned {
    /// Warnings without a project's own words.
    pub named: Vec<Warning>,
    /// How many others there are.
    pub unnamed: usize,
}

/// The warnings that belong to an event. A host may pass them on to its model, so a project's own words stay out of them: of its settings
/// only those that exist are named.
pub fn warnings(call: &Call, happened: &Happened) -> Warned {
    if !matches!(happened.event, Event::Prompt { .. } | Event::Stop { .. }) {
        return Warned::default();
    }
    let plain =
        |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'0'..=b'9' | b'_' | b'.'));
    let exists = |name: &str| Key::find(name).is_some_and(|key| !key.name.contains('*') && plain(name));
    let all = &call.said().warnings;
    let may = |warning: &&Warning| warning.origin != Origin::Project || exists(&warning.name);
    let named: Vec<Warning> = all.iter().filter(may).cloned().collect();
    Warned { unnamed: all.len() - named.len(), named }
}

/// Acts on an event, within the budget of the call.
pub fn run(call: &Call, host: &Host, happened: &Happened) -> Result<Did> {
    let _holding = call.budget().hold();
    let folder = |folder: &Option<PathBuf>| match folder {
        // Relative paths start where the tool works, which may be elsewhere than the session.
        Some(folder) => happened.cwd.join(folder),
        None => happened.cwd.clone(),
    };
    match &happened.event {
        Event::Prompt { text } => prompt(call, host, happened, text),
        Event::PreWrite { targets, folder: of } => Ok(pre_write(call, targets, &folder(of))),
        Event::PostWrite { targets, folder: of } => post_write(call, targets, &folder(of)),
        Event::Stop { active, prompt, last_message } => {
            let suggest = call.settings().triage.mode == TriageMode::Suggest;
            let arrival = stop::Arrival {
                session: happened.session.as_deref(),
                transcript: happened.transcript.as_deref(),
                cwd: &happened.cwd,
                prompt: prompt.as_deref(),
                last_message: last_message.as_deref(),
                active: *active,
                goes_on: if suggest { host.goes_on_told } else { host.goes_on_held },
            };
            Ok(with_captures(stopped(call, host, arrival, suggest)?, call, host, happened))
        }
        Event::PreCompact => {
            lost(call, host, happened);
            Ok(with_captures(Did::nothing("", "a last look at the conversation"), call, host, happened))
        }
        Event::SessionEnd => {
            let did = Did::nothing("", "a last look at the conversation");
            let did = with_captures(did, call, host, happened);
            stop::ended(call, folders(call, host), happened.session.as_deref());
            Ok(did)
        }
        Event::SessionStart { afresh } => {
            if *afresh {
                lost(call, host, happened);
            }
            recall::prepare(call);
            stop::swept(call, folders(call, host));
            let mut did = session_start(call, host, happened)?;
            // Turns whose time is over go by themselves, in another process: nobody waits for them.
            if super::upkeep::expiry_is_due(call) {
                did.later.push(Later::Expire);
            }
            Ok(did)
        }
    }
}

/// The last thing a beginning session does, after its trace: the index is brought into memory. Says what is left to another process.
pub fn warm_up(call: &Call, happened: &Happened) -> Option<Later> {
    if !matches!(happened.event, Event::SessionStart { .. }) || !recall::is_hybrid(call) {
        return None;
    }
    let behind = !recall::warm(call) || super::model::is_behind(call);
    behind.then_some(Later::Embed)
}

/// Notes a run where `last` and `doctor` find it. The trace must not be what makes a hook fail.
pub fn note(call: &Call, host: &Host, hook: &str, did: &Did, micros: u64) {
    let run = Run {
        at: time::format(call.project().world().now),
        hook: hook.to_owned(),
        agent: host.agent.clone(),
        ended: did.ended,
        saw: did.saw.clone(),
        because: did.because.clone(),
        left_out: call.budget().left_out(),
        micros,
    };
    let _ = trace::record(call.project(), &run);
}

/// What the model was given before is lost; a ledger that cannot say so must not cost the hook.
fn lost(call: &Call, host: &Host, happened: &Happened) {
    if let Some(session) = &happened.session {
        let _ = ledger::clear(call.project(), session, &host.agent);
    }
}

fn prompt(call: &Call, host: &Host, happened: &Happened, text: &str) -> Result<Did> {
    let saw = format!("a prompt of {} characters", text.chars().count());
    let ask =
        Recall { prompt: text.to_owned(), session: happened.session.clone(), most: Some(host.context_max) };
    let given = recall::prompt(call, &ask)?;
    if given.block.is_empty() {
        let why = match given.repeated {
            0 if !recall::is_hybrid(call) => {
                "nothing fits: no title, tag, note, lesson or register".to_owned()
            }
            0 => "nothing is near enough".to_owned(),
            repeated => format!("{repeated} memories fit and were given before in this session"),
        };
        return Ok(Did::nothing(saw, why));
    }
    Ok(Did::of(Answer::Context(given.block), Ended::Injected, saw, given.because))
}

fn session_start(call: &Call, host: &Host, happened: &Happened) -> Result<Did> {
    let facts = gather(call, &host.agent)?;
    let source = crate::inject::source(call);
    let saw = "a session's start";
    let Some(block) = start::block(&facts, &source, START_MAX) else {
        return Ok(Did::nothing(saw, "nothing every session should know"));
    };
    let told = facts.standing.iter().chain(&facts.next_actions);
    let told = told.map(|one| ledger::Given {
        id: one.id.clone(),
        version: String::new(),
        score: 0.0,
        why: vec![("told to every session".to_owned(), 0.0)],
    });
    // A ledger that cannot be written costs nobody a memory.
    let session = happened.session.as_deref();
    let _ = ledger::note_given(call.project(), session, &host.agent, told.collect());
    let because = format!(
        "{} of the vault, {} that hold, {} left to do, {} new in review",
        facts.snapshot.iter().filter(|line| line.starts_with("- ")).count(),
        facts.standing.len(),
        facts.next_actions.len(),
        facts.new_in_review
    );
    Ok(Did::of(Answer::Context(block), Ended::Injected, saw, vec![because]))
}

/// What tools may not write to: the memory, and what is the user's own.
fn guarded(call: &Call) -> Memory {
    let data = &call.project().world().data;
    let own = call.user_settings().and_then(Path::parent).unwrap_or(data);
    Memory::new(call.project().root().folder(), call.home()).with_own([own.to_owned(), data.clone()])
}

fn pre_write(call: &Call, targets: &[Target], cwd: &Path) -> Did {
    let memory = guarded(call);
    let saw = format!("{} targets", targets.len());
    match targets.iter().find_map(|target| guard::refusal(&memory, target.attempt(), cwd)) {
        None => Did::nothing(saw, "outside every memory folder"),
        Some(reason) => {
            let because = vec!["inside a memory folder".to_owned()];
            Did::of(Answer::Deny(reason.to_owned()), Ended::Denied, saw, because)
        }
    }
}

fn post_write(call: &Call, targets: &[Target], cwd: &Path) -> Result<Did> {
    let memory = guarded(call);
    let shelf = |inside: &Inside, path: &Path, bytes: &[u8]| judge(call, inside, path, bytes);
    let mut refusals = Vec::new();
    let mut log = Vec::new();
    let now = call.project().world().now;
    for (path, from) in targets.iter().flat_map(|target| guard::written(target.attempt(), cwd)) {
        if !budget::goes_on_or_leaves(budget::Left::Files) {
            continue;
        }
        let outcome = validate::validate(&memory, call.screen(), &shelf, &path, &from, now)?;
        // A file may be named after what nobody should read.
        let clean = |text: String| without_secrets(&text).into_owned();
        log.extend(outcome.warnings.into_iter().map(clean));
        refusals.extend(outcome.refusal.map(clean));
    }
    let saw = format!("{} targets", targets.len());
    if refusals.is_empty() {
        let why = if log.is_empty() { "outside every memory folder" } else { "valid" };
        return Ok(Did { log, ..Did::nothing(saw, why) });
    }
    log.extend(refusals.iter().map(|refusal| format!("ERROR: {refusal}")));
    let because = vec![format!("{} files are not what they should be", refusals.len())];
    Ok(Did { log, ..Did::of(Answer::Undo(refusals.join("\n")), Ended::Denied, saw, because) })
}

fn stopped(call: &Call, host: &Host, arrival: stop::Arrival<'_>, suggest: bool) -> Result<Did> {
    // An agent without the skill is told how to save without it.
    let with_way = |text: String| match host.has_skill {
        true => text,
        false => format!("{}\n{WITHOUT_SKILL}", text.trim_end_matches('\n')),
    };
    match stop::stop(call, folders(call, host), arrival)? {
        stop::Outcome::Through(why) => Ok(Did::nothing("a stop", why)),
        stop::Outcome::Held { text, kinds } => {
            let answer = match suggest {
                true => Answer::Suggest(with_way(text)),
                false => Answer::Hold(with_way(text)),
            };
            let because = kinds.iter().map(|(kind, score)| format!("{kind} (score {score:.2})")).collect();
            Ok(Did::of(answer, Ended::Captured, "a stop", because))
        }
    }
}

/// Keeps notes and turns too, if the settings want that. Failing at it is told, but costs nothing else.
fn with_captures(mut did: Did, call: &Call, host: &Host, happened: &Happened) -> Did {
    let folders = stop::Folders { host: host.transcripts.as_deref(), ..folders(call, host) };
    let transcript = happened.transcript.as_deref();
    match stop::keep_notes(call, folders, transcript) {
        Ok(0) => {}
        Ok(kept) => {
            did.because.push(format!("{kept} notes kept"));
            did.ended = Ended::Captured;
        }
        Err(fault) => did.because.push(format!("no notes kept: {}", fault.message)),
    }
    match stop::keep_turns(call, folders, transcript, happened.session.as_deref()) {
        Ok(kept) if kept.stored == 0 => {}
        Ok(kept) => {
            did.because.push(format!("{} turns kept, {} facts proposed", kept.stored, kept.proposed));
            if kept.cut_out > 0 {
                did.because.push(format!("{} secrets or orders were cut out of them", kept.cut_out));
            }
            did.ended = Ended::Captured;
            if call.settings().extraction.is_some() {
                did.later.push(Later::Propose);
            }
        }
        Err(fault) => did.because.push(format!("no turns kept: {}", fault.message)),
    }
    if recall::is_hybrid(call) && super::model::is_behind(call) {
        did.later.push(Later::Embed);
    }
    did
}

/// Transcripts are read from the folder all agents agree on and from this user's own; files for drafting models have their well-known names in
/// the first and all others in the second.
fn folders<'a>(call: &'a Call, host: &'a Host) -> stop::Folders<'a> {
    let temp = Path::new(TEMP);
    stop::Folders { temp, own: host.temp.as_deref().unwrap_or(temp), home: call.home(), host: None }
}
