//! The stop hook: looks at what was said and holds the stop up if there is something to save.
//!
//! Comes in: the stop as the host described it. Goes out: let through and why, or held up and with which text. Never here:
//! a stop held up twice in a row, a stop held up that nobody watches, a transcript from outside the temporary and home folders, or text the
//! redactor has not seen in anything that leaves this function.
//!
//! There are two manners. A bare `hook stop` keeps the contract of the record format's own hook: a flag in the working folder, and the whole text
//! at once. A line that `setup` installed leaves nothing in the project, holds each session up once for each finding, says it in two lines with the
//! rest in a file, and keeps what an unattended session found for the next one that a person watches.

use super::flag;
use super::handoff::Handoff;
use super::sessions::{Key, Session, message_hash};
use super::unattended;
use crate::call::Call;
use crate::capture::KeptTurns;
use crate::capture::own::{STOP_BEGINS, STOP_ENDS, STOP_SAYS};
use crate::capture::transcript::{self, Limits};
use crate::capture::triage::{
    Conversation, Finding, Marks, Pointer, Speaker, Turn, context_text, reply_text,
    tail::{self, Tail},
};
use crate::gate::scan::{Class, Level};
use crate::inject::calm::calm;
use heirloom_core::Settings;
use heirloom_core::fault::Result;
use heirloom_core::settings::{Contact, TriageMode};
use heirloom_core::text::one_line;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A stop, as the host described it.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The session, if the host names it.
    pub session: Option<&'a str>,
    /// Where the conversation is written.
    pub transcript: Option<&'a Path>,
    /// The working folder.
    pub cwd: &'a Path,
    /// What the person asked in this turn, if the host says so itself.
    pub prompt: Option<&'a str>,
    /// The model's last message, if the host says so itself; the transcript may not have it yet.
    pub last_message: Option<&'a str>,
    /// The model goes on because an earlier stop was held up.
    pub active: bool,
    /// Whether holding this stop up makes the host go on, as opposed to merely showing the text.
    pub goes_on: bool,
    /// How the stop is treated.
    pub manner: Manner<'a>,
}

/// How a stop is treated.
#[derive(Debug, Clone, Copy)]
pub enum Manner<'a> {
    /// By the contract of the record format's own hook.
    Contract,
    /// As a line does that `setup` installed.
    Installed {
        /// Whether a person watches the session.
        attended: bool,
        /// How to call this program, ready for a shell.
        program: &'a str,
    },
}

impl Manner<'_> {
    fn is_contract(self) -> bool {
        matches!(self, Manner::Contract)
    }

    fn is_attended(self) -> bool {
        !matches!(self, Manner::Installed { attended: false, .. })
    }
}

/// The folders of this machine that matter here.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// The folder in which files have the names all agents agree on.
    pub temp: &'a Path,
    /// The temporary folder of this user, for everything else.
    pub own: &'a Path,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// Where the host itself keeps its transcripts, if that is known.
    pub host: Option<&'a Path>,
}

/// What becomes of a stop.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Let through, and why.
    Through(&'static str),
    /// Let through, since the stop before this one asked for something; whether it was saved.
    Answered {
        /// Something was saved since.
        saved: bool,
    },
    /// Held up with this text.
    Held {
        /// What the model is told.
        text: String,
        /// Kinds with their scores; empty if this repeats an answer.
        kinds: Vec<(&'static str, f64)>,
    },
}

/// Decides about a stop.
pub fn stop(call: &Call, folders: Folders<'_>, arrival: Arrival<'_>) -> Result<Outcome> {
    let settings = call.settings();
    let now = call.project().world().now;
    if !settings.triage.enabled {
        return Ok(Outcome::Through("triage is off"));
    }
    if arrival.active && arrival.manner.is_contract() {
        flag::take(arrival.cwd, now)?;
        return Ok(Outcome::Through("the host is already going on after a stop"));
    }
    if let Some(path) = arrival.transcript.filter(|_| waits(&arrival)) {
        begun(path);
    }
    let transcript = arrival.transcript.and_then(|path| allowed(path, folders));
    let size = transcript.as_deref().and_then(|path| std::fs::metadata(path).ok()).map_or(0, |m| m.len());
    let key = Key { size, message: arrival.last_message.map(message_hash).unwrap_or_default() };
    // Without a place to remember the session in, the flag alone keeps a stop from being held up twice.
    let mut session = arrival.session.and_then(|name| {
        let transcript = transcript.as_deref().unwrap_or(Path::new(""));
        Session::open(call.project().data().ok()?, name, transcript, now).ok()
    });
    // A hold that went nowhere, and whether something was saved since.
    let mut lost = None;
    if arrival.manner.is_contract() {
        if let Some(same) = session.as_ref().and_then(|session| session.same(&key)) {
            return Ok(match same {
                Some(text) => Outcome::Held { text, kinds: Vec::new() },
                None => Outcome::Through("the same stop was just let through"),
            });
        }
    } else {
        // Hooks in the settings and in a plugin answer one stop; the model is asked once.
        if !arrival.active && session.as_ref().is_some_and(|session| session.was_just_asked(&key)) {
            return Ok(Outcome::Through("another hook has just looked at this stop"));
        }
        // Whether the host says so or not: what follows a held stop is its answer, unless a person spoke in between.
        let answered = session.as_mut().and_then(Session::take_hold);
        match answered {
            Some(held) => {
                let saved = has_saved(call, held.audited);
                if arrival.active || !has_person_spoken(transcript.as_deref(), settings, held.size) {
                    return Ok(Outcome::Answered { saved });
                }
                lost = Some(saved);
            }
            None if arrival.active => {
                return Ok(Outcome::Through("the host is already going on after a stop"));
            }
            None => {}
        }
    }
    if arrival.manner.is_contract() && flag::take(arrival.cwd, now)? {
        return Ok(Outcome::Through("the stop before this one was held up"));
    }
    let tail = match &transcript {
        Some(path) => written(path, settings.triage.max_messages, arrival)?,
        None => Tail::default(),
    };
    let turns = with_what_the_host_said(tail.turns, tail.size, settings.triage.max_messages, arrival);
    if turns.is_empty() {
        return Ok(Outcome::Through("there is no transcript to look at"));
    }
    let marks = session.as_ref().map_or_else(Marks::new, |session| session.marks(&turns, tail.size));
    let by_words = arrival.manner.is_contract() || settings.triage.mode == TriageMode::Words;
    let mut conversation = match by_words {
        true => Conversation::new(turns),
        false => Conversation::with_names(turns),
    };
    let mut findings = match by_words {
        true => conversation.findings(settings, &marks),
        false => conversation.stated(settings, &marks),
    };
    if !findings.is_empty() {
        conversation.redact(&secrets(call, conversation.text()));
    }
    // One hold for each session and finding, however often the model comes back to it.
    if let Some(session) = session.as_ref().filter(|_| !arrival.manner.is_contract()) {
        findings.retain(|finding| !session.has_reported(&conversation.sentences(finding)));
    }
    // A description is the project's own words, and the model reads it.
    for description in findings.iter_mut().filter_map(|finding| finding.description.as_mut()) {
        *description = one_line(&calm(call, description));
    }
    let waiting = match arrival.manner.is_attended() && !arrival.manner.is_contract() {
        true => call.project().known_data()?.map(|data| unattended::take(&data, now)).unwrap_or_default(),
        false => Vec::new(),
    };
    let outcome = if findings.is_empty() && waiting.is_empty() {
        match lost {
            Some(saved) => Outcome::Answered { saved },
            None => Outcome::Through("nothing reached its threshold"),
        }
    } else {
        let kinds = findings.iter().map(|f| (f.kind, f.score)).collect();
        match arrival.manner {
            Manner::Contract => {
                let text = hand_over(call, folders, arrival.session, &conversation, &findings);
                if arrival.goes_on {
                    flag::raise(arrival.cwd, now)?;
                }
                Outcome::Held { text, kinds }
            }
            Manner::Installed { attended: false, .. } => {
                let found: Vec<unattended::Found> = findings
                    .iter()
                    .map(|finding| unattended::Found {
                        kind: finding.kind.to_owned(),
                        context: context_text(&conversation, finding),
                    })
                    .collect();
                unattended::keep(call.project().data()?, arrival.session, &found, now)?;
                Outcome::Through("nobody watches this session; the next one that somebody watches is asked")
            }
            Manner::Installed { program, .. } => {
                let whole = hand_over(call, folders, arrival.session, &conversation, &findings);
                let text = in_two_lines(call, folders, arrival.session, program, &findings, &waiting, whole);
                Outcome::Held { text, kinds }
            }
        }
    };
    if let Some(session) = &mut session {
        let key = Key { size: tail.size, ..key };
        if !arrival.manner.is_contract() {
            session.reports(findings.iter().flat_map(|finding| conversation.sentences(finding)));
        }
        match &outcome {
            Outcome::Held { text, kinds } => {
                let kinds: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
                session.answered(key, Some(text), &kinds, arrival.last_message);
                if !arrival.manner.is_contract() {
                    session.held(audited(call), tail.size);
                }
            }
            // What an unattended session found is reported too: it waits for another one.
            Outcome::Through(_) if !arrival.manner.is_attended() => {
                let kinds: Vec<&str> = findings.iter().map(|finding| finding.kind).collect();
                session.answered(key, None, &kinds, arrival.last_message);
            }
            Outcome::Through(_) | Outcome::Answered { .. } => session.answered(key, None, &[], None),
        }
    }
    Ok(outcome)
}

/// The end of a transcript. A host that does not say itself what its model said last may still be writing it down; for a moment that is waited
/// for.
fn written(path: &Path, window: usize, arrival: Arrival<'_>) -> Result<Tail> {
    let mut tail = tail::read(path, window)?;
    for _ in 0..if waits(&arrival) { LOOKS } else { 0 } {
        let last = tail.turns.iter().rev().find_map(|turn| turn.speaker);
        if last.is_some_and(|last| last != Speaker::Human) {
            break;
        }
        std::thread::sleep(PAUSE);
        tail = tail::read(path, window)?;
    }
    Ok(tail)
}

/// How often and after which pause a transcript is looked at that is not written yet.
const LOOKS: usize = 8;
const PAUSE: Duration = Duration::from_millis(60);

/// Whether what was said last is to be waited for: the host does not say it itself, and the record format's own contract knows no waiting.
fn waits(arrival: &Arrival<'_>) -> bool {
    arrival.last_message.is_none() && !arrival.manner.is_contract()
}

/// Waits a little for a transcript that the host begins to write only now: Copilot does, where a session is a single answer.
fn begun(path: &Path) {
    for _ in 0..LOOKS {
        if std::fs::metadata(path).is_ok_and(|found| found.len() > 0) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Whether a person said something after the transcript had grown so far.
fn has_person_spoken(transcript: Option<&Path>, settings: &Settings, since: u64) -> bool {
    let tail = transcript.and_then(|path| tail::read(path, settings.triage.max_messages).ok());
    let is_person = |turn: &Turn| {
        let says = turn.texts.iter().any(|text| !text.trim().is_empty());
        turn.start >= since && turn.speaker == Some(Speaker::Human) && says
    };
    tail.is_some_and(|tail| tail.turns.iter().any(is_person))
}

/// The audit, if there is one already.
fn audit(call: &Call) -> Option<PathBuf> {
    let project = call.project();
    project.has_local().then(|| project.local().ok().map(|local| local.path("audit.jsonl"))).flatten()
}

/// How far the audit has grown: whether something was saved between two stops shows behind it.
fn audited(call: &Call) -> u64 {
    audit(call).and_then(|path| std::fs::metadata(path).ok()).map_or(0, |found| found.len())
}

/// Whether something was written since the audit had grown so far. A refusal is audited too, and saves nothing.
fn has_saved(call: &Call, from: u64) -> bool {
    use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
    /// More lines than this between two stops are many sessions' at once.
    const LINES: usize = 10_000;
    const DONE: &str = "\"outcome\":\"done\"";
    let Some(mut file) = audit(call).and_then(|path| std::fs::File::open(path).ok()) else { return false };
    if file.seek(SeekFrom::Start(from)).is_err() {
        return false;
    }
    BufReader::new(file).lines().take(LINES).map_while(|line| line.ok()).any(|line| line.contains(DONE))
}

/// The request in two lines: how much there is, and where the rest stands. Without a place for the rest, all of it.
fn in_two_lines(
    call: &Call,
    folders: Folders<'_>,
    session: Option<&str>,
    program: &str,
    findings: &[Finding],
    waiting: &[unattended::Found],
    whole: String,
) -> String {
    let mut kinds: Vec<&str> = findings.iter().map(|finding| finding.kind).collect();
    kinds.extend(waiting.iter().map(|found| found.kind.as_str()));
    let count = kinds.len();
    kinds.sort_unstable();
    kinds.dedup();
    let items = if count == 1 { "1 item" } else { "items" };
    let items = if count == 1 { items.to_owned() } else { format!("{count} {items}") };
    let handoff = Handoff::new(folders.temp, folders.own, session, &call.project().world().nonce);
    let earlier: String = waiting
        .iter()
        .map(|found| format!("\n# From a session that nobody watched: {}\n\n{}\n", found.kind, found.context))
        .collect();
    let whole = if findings.is_empty() { earlier } else { format!("{whole}{earlier}") };
    let Some(file) = handoff.details(&whole) else { return whole };
    format!(
        "{STOP_BEGINS}{items} ({}) {STOP_SAYS}.\nRead `{}` and save what is worth keeping: \
         `{program} add KIND \"what holds, because of what\"`. {STOP_ENDS}",
        kinds.join(", "),
        file.display(),
    )
}

/// Whether the conversation in a transcript was made smaller since the last prompt.
pub fn has_shrunk(folders: Folders<'_>, transcript: &Path) -> bool {
    allowed(transcript, folders).is_some_and(|path| super::shrunk::since_last_prompt(&path))
}

/// How much of a transcript's end is looked through for notes and turns.
const KEPT_TAIL: u64 = 4 << 20;

/// Keeps what the model said as notes, if the settings want that. Returns how many are new. `said` is the conversation of a host that writes no
/// transcript.
pub fn keep_notes(
    call: &Call,
    folders: Folders<'_>,
    transcript: Option<&Path>,
    said: &[transcript::Turn],
) -> Result<usize> {
    if !call.settings().notes.capture {
        return Ok(0);
    }
    if transcript.is_none() {
        return Ok(crate::capture::keep_at_stop(call, said.to_vec())?.stored.len());
    }
    let Some(path) = transcript.and_then(|path| allowed(path, folders)) else { return Ok(0) };
    let turns = transcript::open_tail(&path, KEPT_TAIL, Limits::default())?;
    Ok(crate::capture::keep_at_stop(call, turns)?.stored.len())
}

/// Keeps what was said as episodes of this user, if the settings want that. A person's words are the owner's only if the host wrote them down:
/// in its own folder, about this session, in a file of this account. Anybody can put a file into a temporary folder.
pub fn keep_turns(
    call: &Call,
    folders: Folders<'_>,
    transcript: Option<&Path>,
    session: Option<&str>,
    said: &[transcript::Turn],
) -> Result<KeptTurns> {
    if !call.settings().tiers.capture {
        return Ok(KeptTurns::default());
    }
    if transcript.is_none() {
        // No file of the host's stands behind it.
        return crate::capture::keep_turns(call, said.to_vec(), session, |_| false);
    }
    let path = transcript.and_then(|path| allowed(path, folders));
    let Some(path) = path else { return Ok(KeptTurns::default()) };
    let of_host =
        folders.host.is_some_and(|host| is_of_host(&path, host) && !is_anybodys(call, folders, host));
    let named = session.is_some_and(|session| is_named_after(&path, session));
    let by_owner = |said: Option<&str>| match (said, session) {
        (Some(said), Some(session)) => of_host && said == session,
        (None, Some(_)) => of_host && named,
        (_, None) => false,
    };
    let turns = transcript::open_tail(&path, KEPT_TAIL, Limits::default())?;
    let turns = turns.with_tools(call.settings().tiers.capture_tools);
    crate::capture::keep_turns(call, turns, session, by_owner)
}

/// Whether a transcript, by its real place, is one the host wrote for this account. A link in the host's folder that leads elsewhere has its
/// real place elsewhere.
fn is_of_host(real: &Path, host: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let host = std::fs::canonicalize(host).ok().filter(|host| real.starts_with(host));
    let me = rustix::process::geteuid().as_raw();
    host.is_some()
        && std::fs::metadata(real).is_ok_and(|file| file.is_file() && file.uid() == me && file.nlink() == 1)
}

/// Whether anybody may have written what lies in a host's folder: a variable can say that it is in the project, or in a folder for passing files.
fn is_anybodys(call: &Call, folders: Folders<'_>, host: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (host, home) = (real(host), folders.home.map(real));
    let home = home.as_deref();
    let of_the_project =
        |folder: &Path| host.starts_with(folder) && !home.is_some_and(|home| home.starts_with(folder));
    // A home that lies in such a folder itself is a home all the same.
    let passing = |folder: &Path| {
        host.starts_with(folder)
            && !home.is_some_and(|home| home.starts_with(folder) && host.starts_with(home))
    };
    let shared = [folders.temp, folders.own, Path::new("/var/tmp"), Path::new("/dev/shm")];
    of_the_project(&real(call.project().folder())) || shared.into_iter().any(|folder| passing(&real(folder)))
}

/// Whether a transcript's name holds the session's, for hosts that do not name it inside.
fn is_named_after(path: &Path, session: &str) -> bool {
    /// Fewer characters fit too many names.
    const SHORT: usize = 8;
    // One host gives each session a folder of its own.
    let folder = path.parent().and_then(Path::file_name);
    let names = [path.file_stem(), folder].into_iter().flatten();
    session.chars().count() >= SHORT && names.into_iter().any(|name| name.to_string_lossy().contains(session))
}

/// The transcript's real place, if it lies below a temporary folder or the home folder.
fn allowed(path: &Path, folders: Folders<'_>) -> Option<PathBuf> {
    let real = std::fs::canonicalize(path).ok()?;
    let below = |folder: &Path| {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        // A home of `/` would allow the whole machine.
        folder != Path::new("/") && real != folder && real.starts_with(folder)
    };
    (below(folders.temp) || below(folders.own) || folders.home.is_some_and(below)).then_some(real)
}

/// Hosts write the transcript in their own time: what they say themselves counts even if it is not there yet.
fn with_what_the_host_said(
    mut turns: Vec<Turn>,
    size: u64,
    window: usize,
    arrival: Arrival<'_>,
) -> Vec<Turn> {
    let spoken = [(Speaker::Human, arrival.prompt), (Speaker::Assistant, arrival.last_message)];
    for (speaker, text) in spoken {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { continue };
        let written = turns.iter().rev().filter(|turn| turn.speaker == Some(speaker)).take(5).any(|turn| {
            let said = turn.texts.join("\n");
            !said.trim().is_empty() && text.ends_with(said.trim())
        });
        if !written {
            turns.push(Turn::said(size, speaker, text));
        }
    }
    turns.drain(..turns.len().saturating_sub(window));
    turns
}

/// What must not be shown, by the gate's own measure for what is kept beside the shelves.
fn secrets(call: &Call, text: &str) -> Vec<crate::gate::scan::Finding> {
    let contact = call.settings().gate.contact == Contact::Redact;
    let mut found = call.screen().scan(text);
    found.retain(|finding| match finding.class {
        Class::Secret | Class::Identity => finding.level > Level::Possible,
        Class::Contact => contact,
        Class::Injection => false,
    });
    found.extend(crate::gate::spoken(text));
    found.sort_by_key(|finding| (finding.span.start, finding.span.end));
    found
}

/// The kinds that stops are held up for.
fn kinds(call: &Call) -> impl Iterator<Item = &str> {
    call.settings().categories.iter().map(|category| category.name())
}

/// A session ended: what was handed to it and what is remembered of its stops goes, and what others left behind a day ago.
pub fn ended(call: &Call, folders: Folders<'_>, session: Option<&str>) {
    let world = call.project().world();
    let handoff = Handoff::new(folders.temp, folders.own, session, &world.nonce);
    handoff.end();
    handoff.sweep(world.now, kinds(call));
    if let Ok(Some(data)) = call.project().known_data() {
        super::sessions::end(&data, session, world.now);
    }
}

/// A session begins: what others left behind a day ago goes.
pub fn swept(call: &Call, folders: Folders<'_>) {
    let world = call.project().world();
    Handoff::new(folders.temp, folders.own, None, &world.nonce).sweep(world.now, kinds(call));
    if let Ok(Some(data)) = call.project().known_data() {
        super::sessions::end(&data, None, world.now);
    }
}

fn hand_over(
    call: &Call,
    folders: Folders<'_>,
    session: Option<&str>,
    conversation: &Conversation,
    findings: &[Finding],
) -> String {
    let world = call.project().world();
    let handoff = Handoff::new(folders.temp, folders.own, session, &world.nonce);
    handoff.sweep(world.now, kinds(call));
    let files: Vec<Option<PathBuf>> = findings
        .iter()
        .map(|finding| handoff.context_file(finding.kind, &context_text(conversation, finding)))
        .collect();
    let pointers: Vec<Pointer<'_>> = findings
        .iter()
        .zip(&files)
        .map(|(finding, file)| Pointer { finding, context_file: file.as_deref() })
        .collect();
    reply_text(conversation, &pointers, call.settings(), handoff.folder().as_deref())
}
