//! What happens at each event of a coding agent.
//!
//! Comes in: an event in our own words, and what its host can do. Goes out: an answer in no host's words, what is to be noted of the run, and
//! what another process should do meanwhile. What is given, guarded, captured and held up is decided here or below, within the budgets here.
//! Never here: a host's wire format, an exit code, a clock. A hook fails open: a fault is for the trace, and the agent goes on.

mod said;

pub use crate::hook::trace::Ended;
pub use said::{Answer, Did, Event, Happened, Host, Later, Manner, Said, Target};

use super::recall::{self, Recall};
use crate::budget;
use crate::call::Call;
use crate::capture::transcript::{Role, Turn};
use crate::capture::without_own_words;
use crate::gate::fields::without_secrets;
use crate::hook::guard::{self, Attempt, Inside, Memory};
use crate::hook::trace::{self, Run};
use crate::hook::{gather, judge, seen, start, stop, validate};
use crate::recall::ledger;
use heirloom_core::settings::{Key, Origin, TriageMode, Warning};
use heirloom_core::{fault::Result, time};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Most characters a session is told at its start: it is told them whatever it is about.
const START_MAX: usize = 2_400;

/// Where transcripts may be read from and files for drafting models have their well-known names: the folder all agents agree on.
const TEMP: &str = "/tmp";

/// The name this program goes by.
const NAME: &str = "heirloom";

/// What is said of a memory that came with a clone.
const UNVERIFIED: &str = "(unverified: this memory came with the repository, and nobody on this account has saved or accepted anything in it)";

/// How to save without the skill.
const WITHOUT_SKILL: &str = "Without that skill: read the context file of each category, then run `heirloom add CATEGORY \"what holds, because of \
    what\"` for what is worth keeping; the command checks it and says what is wrong. Then you may stop.";

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

/// What a memory is to the account that runs a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// There is none, and nobody asked for hooks without one.
    None,
    /// A clone in which this account has neither begun a memory nor saved anything: it is recalled from, and nothing is written or held up.
    Guest,
    /// One of its own.
    Own,
}

fn standing(call: &Call, host: &Host) -> Standing {
    if host.manner == Manner::Contract {
        return Standing::Own;
    }
    let has_memory = call.project().root().folder().is_dir();
    match has_memory {
        false if host.manner == Manner::WithMemory => Standing::None,
        true if !call.project().is_used() => Standing::Guest,
        _ => Standing::Own,
    }
}

/// Acts on an event, within the budget of the call.
pub fn run(call: &Call, host: &Host, happened: &Happened) -> Result<Did> {
    let _holding = call.budget().hold();
    let standing = standing(call, host);
    match standing {
        Standing::None => return Ok(Did::nothing("", "this folder has no memory")),
        Standing::Guest if !is_for_guests(&happened.event) => {
            return Ok(Did::nothing("", "this account has not used this memory yet"));
        }
        Standing::Guest | Standing::Own => {}
    }
    let own = standing == Standing::Own;
    let folder = |folder: &Option<PathBuf>| match folder {
        // Relative paths start where the tool works, which may be elsewhere than the session.
        Some(folder) => happened.cwd.join(folder),
        None => happened.cwd.clone(),
    };
    match &happened.event {
        Event::Prompt { text } => {
            let shrunk = |path: &PathBuf| stop::has_shrunk(folders(call, host), path);
            if own && !host.says_when_it_compacts && happened.transcript.as_ref().is_some_and(shrunk) {
                lost(call, host, happened);
            }
            let did = prompt(call, host, happened.session.as_deref(), own, text)?;
            Ok(if own { did } else { labelled(did) })
        }
        Event::PreWrite { targets, folder: of } => {
            if own && host.manner != Manner::Contract {
                // What cannot be remembered is looked at by its age.
                let _ = seen::first_look(call.project());
            }
            Ok(pre_write(call, host, targets, &folder(of)))
        }
        Event::PostWrite { targets, folder: of } => {
            let also = if host.manner == Manner::Contract {
                Vec::new()
            } else {
                seen::changed(call.project()).unwrap_or_default()
            };
            post_write(call, host, targets, &folder(of), &also)
        }
        Event::Stop { active, prompt, last_message, conversation: _ } => {
            let suggest = call.settings().triage.mode == TriageMode::Suggest;
            let prompt = prompt.as_deref().map(without_own_words);
            let manner = match host.manner {
                Manner::Contract => stop::Manner::Contract,
                _ => stop::Manner::Installed { attended: host.attended, program: program(host) },
            };
            let arrival = stop::Arrival {
                session: happened.session.as_deref(),
                transcript: happened.transcript.as_deref(),
                cwd: &happened.cwd,
                prompt: prompt.as_deref().filter(|prompt| !prompt.is_empty()),
                last_message: last_message.as_deref(),
                active: *active,
                goes_on: if suggest { host.goes_on_told } else { host.goes_on_held },
                manner,
            };
            let mut did = stopped(call, host, arrival, suggest)?;
            if host.manner != Manner::Contract {
                late_writes(call, host, &happened.cwd, &mut did);
            }
            Ok(with_captures(did, call, host, happened))
        }
        // What may be no compaction at all is neither forgotten for nor looked at.
        Event::PreCompact { certain: false } => {
            Ok(Did::nothing("", "the host only asks; nothing is lost yet"))
        }
        Event::PreCompact { certain: true } => {
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
            if own {
                if *afresh {
                    lost(call, host, happened);
                }
                recall::prepare(call);
                stop::swept(call, folders(call, host));
                if host.manner != Manner::Contract {
                    let _ = seen::look(call.project());
                }
            }
            let mut did = session_start(call, host, happened.session.as_deref(), own)?;
            // Turns whose time is over go by themselves, in another process: nobody waits for them.
            if own && super::upkeep::expiry_is_due(call) {
                did.later.push(Later::Expire);
            }
            Ok(did)
        }
    }
}

/// What happens in a clone that this account has not used yet: it is told what is there, and the guard holds.
fn is_for_guests(event: &Event) -> bool {
    matches!(event, Event::Prompt { .. } | Event::PreWrite { .. } | Event::SessionStart { .. })
}

/// What a guest is given, with a word about where it comes from.
fn labelled(did: Did) -> Did {
    let Answer::Context(block) = &did.answer else { return did };
    let Some((head, rest)) = block.split_once('\n') else { return did };
    Did { answer: Answer::Context(format!("{head}\n{UNVERIFIED}\n{rest}")), ..did }
}

/// How an agent is told to call this program.
fn program(host: &Host) -> &str {
    if host.program.is_empty() { NAME } else { &host.program }
}

/// A text of ours with commands that work in whatever shell runs them: by the path that was installed.
fn with_program(text: &str, host: &Host) -> String {
    match program(host) {
        NAME => text.to_owned(),
        program => text.replace("`heirloom ", &format!("`{program} ")),
    }
}

/// The last thing a beginning session does, after its trace: the index is brought into memory. Says what is left to another process.
pub fn warm_up(call: &Call, host: &Host, happened: &Happened) -> Option<Later> {
    let begins = matches!(happened.event, Event::SessionStart { .. });
    if !begins || standing(call, host) != Standing::Own || !recall::is_hybrid(call) {
        return None;
    }
    let behind = !recall::warm(call) || super::model::is_behind(call);
    behind.then_some(Later::Embed)
}

/// Notes a run where `last` and `doctor` find it. The trace must not be what makes a hook fail.
pub fn note(call: &Call, host: &Host, hook: &str, did: &Did, micros: u64) {
    if standing(call, host) != Standing::Own {
        return;
    }
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

fn prompt(call: &Call, host: &Host, session: Option<&str>, own: bool, text: &str) -> Result<Did> {
    let saw = format!("a prompt of {} characters", text.chars().count());
    // Hosts hand our own words back inside a prompt; what is left of it is what the person said.
    let text = without_own_words(text);
    if text.trim().is_empty() {
        return Ok(Did::nothing(saw, "it holds nothing but our own words"));
    }
    let session = session.map(str::to_owned);
    let ask = Recall { prompt: text.into_owned(), session, most: Some(host.context_max) };
    let given = if own { recall::prompt(call, &ask)? } else { recall::prompt_of_guest(call, &ask)? };
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

fn session_start(call: &Call, host: &Host, session: Option<&str>, own: bool) -> Result<Did> {
    let facts = start::Facts { early: host.early, ..gather(call, &host.agent, !own)? };
    let source = crate::inject::source(call);
    let saw = "a session's start";
    let Some(block) = start::block(&facts, &source, program(host), START_MAX) else {
        return Ok(Did::nothing(saw, "nothing every session should know"));
    };
    let told = facts.standing.iter().chain(&facts.next_actions);
    let told = told.map(|one| ledger::Given {
        id: one.id.clone(),
        version: String::new(),
        score: 0.0,
        why: vec![("told to every session".to_owned(), 0.0)],
    });
    if own {
        // A ledger that cannot be written costs nobody a memory.
        let _ = ledger::note_given(call.project(), session, &host.agent, told.collect());
    }
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
pub(super) fn guarded(call: &Call) -> Memory {
    let data = &call.project().world().data;
    let own = call.user_settings().and_then(Path::parent).unwrap_or(data);
    Memory::new(call.project().root().folder(), call.home()).with_own([own.to_owned(), data.clone()])
}

fn pre_write(call: &Call, host: &Host, targets: &[Target], cwd: &Path) -> Did {
    let memory = guarded(call);
    let saw = format!("{} targets", targets.len());
    match targets.iter().find_map(|target| guard::refusal(&memory, target.attempt()?, cwd)) {
        None => Did::nothing(saw, "outside every memory folder"),
        Some(reason) => {
            let because = vec!["inside a memory folder".to_owned()];
            Did::of(Answer::Deny(with_program(reason, host)), Ended::Denied, saw, because)
        }
    }
}

/// Looks at what a tool wrote: the files it names, and `also`, those that came or changed meanwhile in whatever way.
fn post_write(call: &Call, host: &Host, targets: &[Target], cwd: &Path, also: &[PathBuf]) -> Result<Did> {
    let memory = guarded(call);
    let shelf = |inside: &Inside, path: &Path, bytes: &[u8]| judge(call, inside, path, bytes);
    let mut refusals = Vec::new();
    let mut log = Vec::new();
    let now = call.project().world().now;
    let attempts = targets.iter().filter_map(Target::attempt);
    // What a command was only thought to write is no broken file.
    let is_there = |attempt: &Attempt<'_>, (path, from): &(String, PathBuf)| {
        host.manner == Manner::Contract
            || matches!(attempt, Attempt::File(_))
            || std::fs::symlink_metadata(from.join(path)).is_ok()
    };
    let named: Vec<(String, PathBuf)> = attempts
        .flat_map(|attempt| {
            guard::written(attempt, cwd).into_iter().filter(move |one| is_there(&attempt, one))
        })
        .collect();
    let is_named = |path: &Path| named.iter().any(|(name, from)| from.join(name) == path);
    let seen_by_host = targets.iter().filter_map(|target| match target {
        Target::Seen(path) => Some(cwd.join(path)),
        Target::File(_) | Target::Command(_) => None,
    });
    let found: BTreeSet<PathBuf> =
        seen_by_host.chain(also.iter().cloned()).filter(|path| !is_named(path)).collect();
    let found = found.iter().filter_map(|path| Some((path.to_str()?.to_owned(), cwd.to_owned(), true)));
    let all: Vec<(String, PathBuf, bool)> =
        named.iter().cloned().map(|(path, from)| (path, from, false)).chain(found).collect();
    for (path, from, is_found) in all {
        if !budget::goes_on_or_leaves(budget::Left::Files) {
            continue;
        }
        let outcome = validate::validate(&memory, call.screen(), &shelf, &path, &from, now, is_found)?;
        // A file may be named after what nobody should read.
        let clean = |text: String| without_secrets(&text).into_owned();
        log.extend(outcome.warnings.into_iter().map(clean));
        refusals.extend(outcome.refusal.map(clean));
    }
    if host.manner != Manner::Contract && !refusals.is_empty() {
        // What was set aside is no news to the next look.
        let _ = seen::look(call.project());
    }
    let saw = match also.len() {
        0 => format!("{} targets", targets.len()),
        changed => format!("{} targets, {changed} files that changed", targets.len()),
    };
    if refusals.is_empty() {
        let why = match (log.is_empty(), also.is_empty()) {
            (true, true) => "outside every memory folder",
            _ => "valid",
        };
        return Ok(Did { log, ..Did::nothing(saw, why) });
    }
    log.extend(refusals.iter().map(|refusal| format!("ERROR: {refusal}")));
    let because = vec![format!("{} files are not what they should be", refusals.len())];
    let told = with_program(&refusals.join("\n"), host);
    Ok(Did { log, ..Did::of(Answer::Undo(told), Ended::Denied, saw, because) })
}

/// Looks at what came into the memory folder since the last tool: a command may go on in the background, and not every tool has a hook. What is
/// refused is set aside; failing at it costs the stop nothing.
fn late_writes(call: &Call, host: &Host, cwd: &Path, did: &mut Did) {
    let also = seen::changed(call.project()).unwrap_or_default();
    if also.is_empty() {
        return;
    }
    if let Ok(found) = post_write(call, host, &[], cwd, &also)
        && found.ended == Ended::Denied
    {
        did.because.extend(found.because);
        did.log.extend(found.log);
    }
}

fn stopped(call: &Call, host: &Host, arrival: stop::Arrival<'_>, suggest: bool) -> Result<Did> {
    // An agent without the skill is told how to save without it.
    let with_way = |text: String| match host.has_skill {
        true => text,
        false => format!("{}\n{}", text.trim_end_matches('\n'), with_program(WITHOUT_SKILL, host)),
    };
    match stop::stop(call, folders(call, host), arrival)? {
        stop::Outcome::Through(why) => Ok(Did::nothing("a stop", why)),
        stop::Outcome::Answered { saved } => {
            let (ended, why) = match saved {
                true => (Ended::Saved, "what the stop before this one asked for was saved"),
                false => (Ended::Ignored, "the stop before this one asked, and nothing was saved"),
            };
            Ok(Did { ended, ..Did::nothing("a stop", why) })
        }
        stop::Outcome::Held { text, kinds } => {
            let (answer, ended) = match (suggest, host.manner) {
                (true, _) => (Answer::Suggest(with_way(text)), Ended::Asked),
                (false, Manner::Contract) => (Answer::Hold(with_way(text)), Ended::Held),
                (false, _) => (Answer::Ask(text), Ended::Held),
            };
            let because = kinds.iter().map(|(kind, score)| format!("{kind} (score {score:.2})")).collect();
            Ok(Did::of(answer, ended, "a stop", because))
        }
    }
}

/// Keeps notes and turns too, if the settings want that. Failing at it is told, but costs nothing else.
fn with_captures(mut did: Did, call: &Call, host: &Host, happened: &Happened) -> Did {
    let folders = stop::Folders { host: host.transcripts.as_deref(), ..folders(call, host) };
    let transcript = happened.transcript.as_deref();
    let said = conversation(happened);
    match stop::keep_notes(call, folders, transcript, &said) {
        Ok(0) => {}
        Ok(kept) => {
            did.because.push(format!("{kept} notes kept"));
            did.captured();
        }
        Err(fault) => did.because.push(format!("no notes kept: {}", fault.message)),
    }
    match stop::keep_turns(call, folders, transcript, happened.session.as_deref(), &said) {
        Ok(kept) if kept.stored == 0 => {}
        Ok(kept) => {
            did.because.push(format!("{} turns kept, {} facts proposed", kept.stored, kept.proposed));
            if kept.cut_out > 0 {
                did.because.push(format!("{} secrets or orders were cut out of them", kept.cut_out));
            }
            did.captured();
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

/// The conversation of a host that writes no transcript, without our own words in it.
fn conversation(happened: &Happened) -> Vec<Turn> {
    let Event::Stop { conversation, .. } = &happened.event else { return Vec::new() };
    let turn = |said: &Said| Turn {
        role: if said.by_person { Role::User } else { Role::Assistant },
        text: without_own_words(&said.text).into_owned(),
        at: said.at.as_deref().and_then(time::parse),
        session: happened.session.clone(),
        files: Vec::new(),
        // No tool output is sent along, and so none that a message could quote.
        external: false,
        tool: None,
    };
    conversation.iter().map(turn).filter(|turn| !turn.text.is_empty()).collect()
}

/// Transcripts are read from the folder all agents agree on and from this user's own; files for drafting models have their well-known names in
/// the first and all others in the second.
fn folders<'a>(call: &'a Call, host: &'a Host) -> stop::Folders<'a> {
    let temp = Path::new(TEMP);
    stop::Folders { temp, own: host.temp.as_deref().unwrap_or(temp), home: call.home(), host: None }
}
