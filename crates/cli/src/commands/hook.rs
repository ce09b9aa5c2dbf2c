//! `hook`: what coding agents call. One short process per event; whatever goes wrong, the agent goes on.
//!
//! Comes in: a moment, an agent, and the agent's JSON on standard input. Goes out: an answer in that agent's words, and a line in the
//! trace. Never here: an exit code other than 0, except the 2 with which a stop is held up; an error on standard output.

use crate::args::{Args, Hook};
use crate::output::Out;
use crate::{attended, environment, hook_input, wiring};
use heirloom_agents::install;
use heirloom_agents::reply::{self, Answer, Output};
use heirloom_agents::table::{Agent, CLAUDE_CODE, COPILOT, Moment};
use heirloom_agents::wire::{self, Silence};
use heirloom_agents::{Call, Event, Said, Target};
use heirloom_core::fault::Result;
use heirloom_core::settings::{Key, Origin, TriageMode, Warning};
use heirloom_core::time;
use heirloom_engine::capture::transcript::{Role, Turn};
use heirloom_engine::hook::guard::{self, Attempt, Memory};
use heirloom_engine::hook::trace::{self, Ended, Run};
use heirloom_engine::hook::{gather, judge, start, stop, validate};
use heirloom_engine::recall::ledger;
use heirloom_engine::verbs::recall;
use std::path::Path;
use std::time::Instant;

/// Most characters a session is told at its start: it is told them whatever it is about.
const START_MAX: usize = 2_400;

/// How to save without the skill.
const WITHOUT_SKILL: &str = "Without that skill: read the context file of each category, then run `heirloom add CATEGORY \"what holds, because of \
    what\"` for what is worth keeping; the command checks it and says what is wrong. Then you may stop.";

pub(crate) fn run(args: &Args, call: &Hook, out: &Out) -> Result<u8> {
    let started = Instant::now();
    let agent = call.agent.as_deref().map_or(Some(&CLAUDE_CODE), Agent::named);
    // Copilot CLI also runs the hooks of a project's `.claude/settings.json`, and takes other words than Claude Code does.
    let of_copilot =
        environment::of_agent("COPILOT_CLI").is_some() && environment::of_agent("CLAUDECODE").is_none();
    let agent = agent.map(|agent| if agent.name == CLAUDE_CODE.name && of_copilot && call.agent.is_some() { &COPILOT } else { agent });
    let (Some(agent), Some(moment)) = (agent, Moment::named(&call.moment)) else {
        // A newer plugin may know hooks and agents that this program does not; that is no reason to stop anybody.
        out.say(format!("heirloom knows no hook `{}` of that agent", call.moment));
        return Ok(0);
    };
    let manner = match (call.everywhere, &call.agent) {
        (true, _) => Manner::Everywhere,
        // Lines of version 0.1 name the agent and nothing more.
        (false, Some(_)) => Manner::WithMemory,
        (false, None) => Manner::Contract,
    };
    // What went wrong is in the trace; some agents take any text on standard error for a refusal.
    std::panic::set_hook(Box::new(|_| {}));
    let mut hook = Running { args, agent, moment, out, started, manner, early: !call.installed && call.agent.is_some() };
    // The last line of defence: some agents take any crash of a guard for a refusal.
    let output = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| hook.answer())).unwrap_or_default();
    if !output.stdout.is_empty() {
        out.raw(output.stdout.as_bytes());
    }
    if !output.stderr.is_empty() {
        out.tell(output.stderr.trim_end_matches('\n'));
    }
    Ok(output.exit)
}

struct Running<'a> {
    args: &'a Args,
    agent: &'static Agent,
    moment: Moment,
    out: &'a Out,
    started: Instant,
    manner: Manner,
    /// The line is one of version 0.1.
    early: bool,
}

/// Where a hook acts, and how.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Called by hand or by a script: as the record format's own hooks, in any folder.
    Contract,
    /// Installed: only where there is a memory.
    WithMemory,
    /// Installed, and wanted in every folder.
    Everywhere,
}

/// What a hook did, for the answer and for the trace.
struct Did {
    answer: Answer,
    ended: Ended,
    saw: String,
    because: Vec<String>,
}

impl Did {
    fn nothing(saw: impl Into<String>, why: impl Into<String>) -> Did {
        Did { answer: Answer::Nothing, ended: Ended::Silent, saw: saw.into(), because: vec![why.into()] }
    }

    fn failed(why: impl Into<String>) -> Did {
        Did { ended: Ended::Failed, ..Did::nothing("", why) }
    }
}

impl Running<'_> {
    fn answer(&mut self) -> Output {
        let input = match hook_input::read(std::io::stdin()) {
            Ok(input) => input,
            Err(e) => return self.failed_early(&format!("standard input cannot be read: {e}")),
        };
        let call = match wire::read(self.agent, self.moment, &input) {
            Ok(call) => call,
            Err(Silence::Empty | Silence::NotOurs(_)) => return Output::default(),
            Err(Silence::Broken(why)) => return self.failed_early(&why),
        };
        let Ok(here) = environment::current_folder() else { return Output::default() };
        let cwd = call.cwd.as_ref().map_or_else(|| here.clone(), |folder| here.join(folder));
        if self.manner == Manner::WithMemory && !wiring::may_have_memory(&cwd) {
            return Output::default();
        }
        self.in_project(&cwd, |hook, wired| hook.act(wired, &call, &cwd))
    }

    /// A failure before the project is known: the trace of the folder the hook was started in gets the line.
    fn failed_early(&mut self, why: &str) -> Output {
        let Ok(here) = environment::current_folder() else { return Output::default() };
        if self.manner == Manner::WithMemory && !wiring::may_have_memory(&here) {
            return Output::default();
        }
        self.in_project(&here, |_, _| Ok(Did::failed(why)))
    }

    fn in_project(
        &mut self,
        cwd: &Path,
        act: impl FnOnce(&Running<'_>, &wiring::Wired) -> Result<Did>,
    ) -> Output {
        let folder = wiring::project_folder(cwd);
        let wired = match wiring::wire_at(self.args, &folder, None, cwd.to_owned()) {
            Ok(wired) => wired,
            Err(fault) => {
                self.out.say(fault.message);
                return Output::default();
            }
        };
        let has_memory = wired.call.project().root().folder().is_dir();
        if self.manner == Manner::WithMemory && !has_memory {
            return Output::default();
        }
        if self.manner != Manner::Contract && has_memory && self.is_strange(&wired) {
            let did = act(self, &wired).unwrap_or_else(|fault| Did::failed(fault.message));
            wired.call.abandon_glance();
            return reply::render(self.agent, self.moment, &did.answer);
        }
        let mut did = act(self, &wired).unwrap_or_else(|fault| Did::failed(fault.message));
        if let Some(fault) = wired.left_out() {
            did.because.push(format!("the tiers are left out: {}", fault.message));
        }
        self.trace(&wired, &did);
        if did.ended == Ended::Failed {
            self.out.say(did.because.join("; "));
        }
        if self.early && self.moment == Moment::SessionStart {
            self.out.note("these hooks are of an earlier version: `heirloom setup` replaces them");
        }
        if self.moment == Moment::SessionStart && recall::is_hybrid(&wired.call) {
            match recall::warm(&wired.call) {
                true => super::model::start_in_background(&wired),
                false => super::model::warm_in_background(&wired),
            }
        }
        wired.call.abandon_glance();
        reply::render(self.agent, self.moment, &did.answer)
    }

    /// Whether this account neither made this memory nor saved anything in it: a clone. It is recalled from, labelled, and nothing is written.
    fn is_strange(&self, wired: &wiring::Wired) -> bool {
        self.manner != Manner::Contract && wired.call.project().known_data().is_ok_and(|known| known.is_none())
    }

    /// Says what of the settings cannot be used. A host may pass this on to its model, so a project's own words stay out of it: of its settings
    /// only those that exist are named.
    fn warn(&self, wired: &wiring::Wired) {
        let plain = |name: &str| {
            name.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'0'..=b'9' | b'_' | b'.'))
        };
        let exists = |name: &str| Key::find(name).is_some_and(|key| !key.name.contains('*') && plain(name));
        let (named, unnamed): (Vec<Warning>, Vec<Warning>) = wired
            .loaded
            .warnings
            .iter()
            .cloned()
            .partition(|warning| warning.origin != Origin::Project || exists(&warning.name));
        self.out.warnings(&named);
        if !unnamed.is_empty() {
            let count = unnamed.len();
            self.out.note(format!(
                "{count} of the project's settings cannot be used: `heirloom config list` names them"
            ));
        }
    }

    fn trace(&self, wired: &wiring::Wired, did: &Did) {
        let project = wired.call.project();
        let run = Run {
            at: time::format(project.world().now),
            hook: self.moment.name().to_owned(),
            agent: self.agent.name.to_owned(),
            ended: did.ended,
            saw: did.saw.clone(),
            because: did.because.clone(),
            micros: u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        // The trace must not be what makes a hook fail.
        let _ = trace::record(project, &run);
    }

    fn act(&self, wired: &wiring::Wired, call: &Call, cwd: &Path) -> Result<Did> {
        if self.is_strange(wired)
            && !matches!(call.event, Event::Prompt { .. } | Event::PreWrite { .. } | Event::SessionStart { .. })
        {
            return Ok(Did::nothing("", "this account has not used this memory yet"));
        }
        let forgot = match call.event {
            Event::SessionStart { afresh } => afresh,
            Event::PreCompact => self.agent.compaction_is_certain,
            _ => false,
        };
        if forgot
            && !self.is_strange(wired)
            && let Some(session) = &call.session
        {
            // What the model was given before is lost; a ledger that cannot say so must not cost the hook.
            let _ = ledger::clear(wired.call.project(), session, self.agent.name);
        }
        if matches!(call.event, Event::SessionStart { .. }) && !self.is_strange(wired) {
            recall::prepare(&wired.call);
        }
        match &call.event {
            Event::Prompt { text } => self.prompt(wired, call, text),
            // Relative paths start where the tool works, which may be elsewhere than the session.
            Event::PreWrite { targets, folder } => {
                let from = folder.as_ref().map_or_else(|| cwd.to_owned(), |folder| cwd.join(folder));
                Ok(self.pre_write(wired, targets, &from))
            }
            Event::PostWrite { targets, folder } => {
                let from = folder.as_ref().map_or_else(|| cwd.to_owned(), |folder| cwd.join(folder));
                self.post_write(wired, targets, &from)
            }
            Event::Stop { active, prompt, last_message, conversation: _ } => {
                self.warn(wired);
                let suggest = wired.call.settings().triage.mode == TriageMode::Suggest;
                let program = environment::called_as().map(|path| install::quoted(&path.to_string_lossy()));
                let program = program.unwrap_or_else(|| crate::machine::NAME.to_owned());
                let manner = match self.manner {
                    Manner::Contract => stop::Manner::Contract,
                    _ => stop::Manner::Installed { attended: attended::is(self.agent, call), program: &program },
                };
                let prompt = prompt.as_deref().map(heirloom_engine::capture::without_own_words);
                let prompt = prompt.as_deref().filter(|prompt| !prompt.is_empty());
                let arrival = stop::Arrival {
                    session: call.session.as_deref(),
                    transcript: call.transcript.as_deref(),
                    cwd,
                    prompt,
                    last_message: last_message.as_deref(),
                    active: *active,
                    goes_on: reply::goes_on(self.agent, suggest),
                    manner,
                };
                Ok(self.with_captures(self.stop(wired, arrival, suggest)?, wired, call))
            }
            Event::PreCompact => {
                Ok(self.with_captures(Did::nothing("", "a last look at the conversation"), wired, call))
            }
            Event::SessionEnd => {
                let did =
                    self.with_captures(Did::nothing("", "a last look at the conversation"), wired, call);
                stop::ended(&wired.call, folders(environment::home().as_deref()), call.session.as_deref());
                Ok(did)
            }
            Event::SessionStart { .. } => {
                if !self.is_strange(wired) {
                    stop::swept(&wired.call, folders(environment::home().as_deref()));
                }
                self.session_start(wired, call)
            }
        }
    }

    fn prompt(&self, wired: &wiring::Wired, call: &Call, text: &str) -> Result<Did> {
        self.warn(wired);
        let saw = format!("a prompt of {} characters", text.chars().count());
        // Hosts hand our own words back inside a prompt; what is left of it is what the person said.
        let text = heirloom_engine::capture::without_own_words(text);
        if text.trim().is_empty() {
            return Ok(Did::nothing(saw, "it holds nothing but our own words"));
        }
        let session = call.session.clone().filter(|_| !self.is_strange(wired));
        let ask = recall::Recall {
            prompt: text.into_owned(),
            session,
            most: Some(self.agent.context_max),
        };
        let given = recall::prompt(&wired.call, &ask)?;
        if given.block.is_empty() {
            let why = match given.repeated {
                0 if !recall::is_hybrid(&wired.call) => {
                    "nothing fits: no title, tag, note, lesson or register".to_owned()
                }
                0 => "nothing is near enough".to_owned(),
                repeated => format!("{repeated} memories fit and were given before in this session"),
            };
            return Ok(Did::nothing(saw, why));
        }
        Ok(Did { answer: Answer::Context(given.block), ended: Ended::Injected, saw, because: given.because })
    }

    /// Notes what is given where `why` finds it. A ledger that cannot be written costs nobody a memory.
    fn note_given(&self, wired: &wiring::Wired, call: &Call, given: Vec<ledger::Given>) {
        let _ = ledger::note_given(wired.call.project(), call.session.as_deref(), self.agent.name, given);
    }

    fn session_start(&self, wired: &wiring::Wired, call: &Call) -> Result<Did> {
        let facts = gather(&wired.call, self.agent.name)?;
        let source = heirloom_engine::inject::source(&wired.call);
        let saw = "a session's start";
        Ok(match start::block(&facts, &source, START_MAX) {
            None => Did::nothing(saw, "nothing every session should know"),
            Some(block) => {
                let told = facts.standing.iter().chain(&facts.next_actions);
                let told = told.map(|one| ledger::Given {
                    id: one.id.clone(),
                    version: String::new(),
                    score: 0.0,
                    why: vec![("told to every session".to_owned(), 0.0)],
                });
                if !self.is_strange(wired) {
                    self.note_given(wired, call, told.collect());
                }
                Did {
                    answer: Answer::Context(block),
                    ended: Ended::Injected,
                    saw: saw.to_owned(),
                    because: vec![format!(
                        "{} of the vault, {} that hold, {} left to do, {} new in review",
                        facts.snapshot.iter().filter(|line| line.starts_with("- ")).count(),
                        facts.standing.len(),
                        facts.next_actions.len(),
                        facts.new_in_review
                    )],
                }
            }
        })
    }

    fn memory(&self, wired: &wiring::Wired) -> Memory {
        Memory::new(wired.call.project().root().folder(), environment::home().as_deref())
            .with_own([environment::config_folder(), environment::data_folder()])
    }

    fn pre_write(&self, wired: &wiring::Wired, targets: &[Target], cwd: &Path) -> Did {
        let memory = self.memory(wired);
        let saw = format!("{} targets", targets.len());
        let refusal = targets.iter().find_map(|target| guard::refusal(&memory, attempt(target), cwd));
        match refusal {
            None => Did::nothing(saw, "outside every memory folder"),
            Some(reason) => Did {
                answer: Answer::Deny(reason.to_owned()),
                ended: Ended::Denied,
                saw,
                because: vec!["inside a memory folder".to_owned()],
            },
        }
    }

    fn post_write(&self, wired: &wiring::Wired, targets: &[Target], cwd: &Path) -> Result<Did> {
        let engine = &wired.call;
        let memory = self.memory(wired);
        let shelf = |inside: &guard::Inside, path: &Path, bytes: &[u8]| judge(engine, inside, path, bytes);
        let mut refusals = Vec::new();
        let mut warnings = Vec::new();
        for (path, from) in targets.iter().flat_map(|target| guard::written(attempt(target), cwd)) {
            let now = engine.project().world().now;
            let outcome = validate::validate(&memory, engine.screen(), &shelf, &path, &from, now)?;
            warnings.extend(outcome.warnings);
            refusals.extend(outcome.refusal);
        }
        for line in &warnings {
            self.out.say(line);
        }
        for refusal in &refusals {
            self.out.say(format!("ERROR: {refusal}"));
        }
        let saw = format!("{} targets", targets.len());
        if refusals.is_empty() {
            return Ok(Did::nothing(
                saw,
                if warnings.is_empty() { "outside every memory folder" } else { "valid" },
            ));
        }
        Ok(Did {
            answer: Answer::Undo(refusals.join("\n")),
            ended: Ended::Denied,
            saw,
            because: vec![format!("{} files are not what they should be", refusals.len())],
        })
    }

    /// Keeps notes and turns too, if the settings want that. Failing at it is told, but costs nothing else.
    fn with_captures(&self, mut did: Did, wired: &wiring::Wired, call: &Call) -> Did {
        let home = environment::home();
        let folder = environment::agent_folder(self.agent).filter(|_| !self.agent.transcripts.is_empty());
        let host = folder.map(|folder| folder.join(self.agent.transcripts));
        let folders = stop::Folders { host: host.as_deref(), ..folders(home.as_deref()) };
        let said = conversation(call);
        match stop::keep_notes(&wired.call, folders, call.transcript.as_deref(), &said) {
            Ok(0) => {}
            Ok(kept) => {
                did.because.push(format!("{kept} notes kept"));
                did.ended = Ended::Captured;
            }
            Err(fault) => did.because.push(format!("no notes kept: {}", fault.message)),
        }
        let (transcript, session) = (call.transcript.as_deref(), call.session.as_deref());
        match stop::keep_turns(&wired.call, folders, transcript, session, &said) {
            Ok(kept) if kept.stored == 0 => {}
            Ok(kept) => {
                did.because.push(format!("{} turns kept, {} facts proposed", kept.stored, kept.proposed));
                did.ended = Ended::Captured;
                super::propose::start_in_background(wired);
            }
            Err(fault) => did.because.push(format!("no turns kept: {}", fault.message)),
        }
        if recall::is_hybrid(&wired.call) {
            super::model::start_in_background(wired);
        }
        did
    }

    /// An agent without the skill is told how to save without it.
    fn with_way(&self, text: String) -> String {
        if self.agent.has_skill { text } else { format!("{}\n{WITHOUT_SKILL}", text.trim_end_matches('\n')) }
    }

    fn stop(&self, wired: &wiring::Wired, arrival: stop::Arrival<'_>, suggest: bool) -> Result<Did> {
        let home = environment::home();
        match stop::stop(&wired.call, folders(home.as_deref()), arrival)? {
            stop::Outcome::Through(why) => Ok(Did::nothing("a stop", why)),
            stop::Outcome::Held { text, kinds } => Ok(Did {
                answer: match (text, suggest) {
                    (text, true) => Answer::Suggest(self.with_way(text)),
                    (text, false) if self.manner != Manner::Contract => Answer::Ask(text),
                    (text, false) => Answer::Hold(self.with_way(text)),
                },
                ended: Ended::Captured,
                saw: "a stop".to_owned(),
                because: kinds.iter().map(|(kind, score)| format!("{kind} (score {score:.2})")).collect(),
            }),
        }
    }
}

/// Transcripts are read from, and files for drafting models are put into, the folder all agents agree on.
fn folders(home: Option<&Path>) -> stop::Folders<'_> {
    stop::Folders { temp: Path::new("/tmp"), home, host: None }
}

/// The conversation of an agent that writes no transcript, without our own words in it.
fn conversation(call: &Call) -> Vec<Turn> {
    let Event::Stop { conversation, .. } = &call.event else { return Vec::new() };
    let turn = |said: &Said| Turn {
        role: if said.by_person { Role::User } else { Role::Assistant },
        text: heirloom_engine::capture::without_own_words(&said.text).into_owned(),
        at: said.at.as_deref().and_then(time::parse),
        session: call.session.clone(),
        files: Vec::new(),
    };
    conversation.iter().map(turn).filter(|turn| !turn.text.is_empty()).collect()
}

fn attempt(target: &Target) -> Attempt<'_> {
    match target {
        Target::File(path) => Attempt::File(path),
        Target::Command(command) => Attempt::Command(command),
    }
}
