//! `hook`: what coding agents call. One short process per event; whatever goes wrong, the agent goes on.
//!
//! Comes in: a moment, an agent, and the agent's JSON on standard input. Goes out: an answer in that agent's words, and a line in the
//! trace. What happens at each event is the engine's. Never here: an exit code other than 0, except the 2 with which a stop is held up;
//! an error on standard output.

use crate::args::{Args, Hook};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{attended, environment, hook_input, machine, wiring};
use heirloom_agents::install;
use heirloom_agents::reply::{self, Answer, Output};
use heirloom_agents::table::{Agent, BORROWERS, CLAUDE_CODE, Moment};
use heirloom_agents::wire::{self, Silence};
use heirloom_agents::{Call, Event, Said, Target};
use heirloom_core::fault::Result;
use heirloom_engine::budget::Budget;
use heirloom_engine::settings;
use heirloom_engine::verbs::hook::{self, Did, Ended, Happened, Host, Later, Manner};
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) fn run(args: &Args, call: &Hook, out: &Out) -> Result<u8> {
    let started = Instant::now();
    let agent = call.agent.as_deref().map_or(Some(&CLAUDE_CODE), Agent::named);
    // Some agents also run hooks that were installed for another one, and take other words.
    let agent = agent.filter(|_| call.agent.is_some()).and_then(borrower).or(agent);
    let (Some(agent), Some(moment)) = (agent, Moment::named(&call.moment)) else {
        // A newer plugin may know hooks and agents that this program does not; that is no reason to stop anybody.
        out.say(format!("this agent has no hook `{}`", call.moment));
        return Ok(0);
    };
    let manner = match (call.everywhere, &call.agent) {
        (true, _) => Manner::Everywhere,
        // Lines of version 0.1 name the agent and nothing more.
        (false, Some(_)) => Manner::WithMemory,
        (false, None) => Manner::Contract,
    };
    let early = !call.installed && call.agent.is_some();
    // What went wrong is in the trace; some agents take any text on standard error for a refusal.
    std::panic::set_hook(Box::new(|_| {}));
    // Such an agent would show every note of ours to its user, at every event.
    let quiet = agent.reads_errors && call.agent.is_some();
    let running = Running { args, agent, moment, out, started, manner, early, quiet };
    // The last line of defence: some agents take any crash of a guard for a refusal.
    let output =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running.answer())).unwrap_or_default();
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
    /// Nothing is said on standard error.
    quiet: bool,
}

impl Running<'_> {
    fn answer(&self) -> Output {
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
        if self.is_elsewhere(&cwd) {
            return Output::default();
        }
        let attended = attended::is(self.agent, &call);
        let happened = in_our_words(call, &cwd);
        self.in_project(&cwd, Ok((&happened, attended)))
    }

    /// A failure before the project is known: the trace of the folder the hook was started in gets the line.
    fn failed_early(&self, why: &str) -> Output {
        let Ok(here) = environment::current_folder() else { return Output::default() };
        if self.is_elsewhere(&here) {
            return Output::default();
        }
        self.in_project(&here, Err(why))
    }

    /// Whether an installed hook has nothing to do around a folder. Most folders have no memory, so this comes before everything else.
    fn is_elsewhere(&self, cwd: &Path) -> bool {
        self.manner == Manner::WithMemory
            && !environment::names_memory()
            && !settings::may_have_memory(cwd, &wiring::user_settings_file())
    }

    /// `event` is what happened and whether a person watches, or why that is not known.
    fn in_project(&self, cwd: &Path, event: std::result::Result<(&Happened, bool), &str>) -> Output {
        give_up_after(self.moment);
        let wired = match wiring::wire_around(self.args, cwd) {
            // From here on: how long a host takes to send its event is not the hook's.
            Ok(wired) => wired.within(Budget::of_a_hook({
                let began = Instant::now();
                move || began.elapsed()
            })),
            Err(fault) => {
                self.say(&fault.message);
                return Output::default();
            }
        };
        let _holding = wired.call.budget().hold();
        let host = self.host(event.is_ok_and(|(_, attended)| attended));
        let mut did = match event {
            Ok((happened, _)) => {
                self.warn(&wired, happened);
                hook::run(&wired.call, &host, happened).unwrap_or_else(|fault| Did::failed(fault.message))
            }
            Err(why) => Did::failed(why),
        };
        did.log.iter().for_each(|line| self.say(line));
        if let Some(fault) = wired.left_out() {
            did.because.push(format!("the tiers are left out: {}", fault.message));
        }
        let micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        hook::note(&wired.call, &host, self.moment.name(), &did, micros);
        if did.ended == Ended::Failed {
            self.say(&did.because.join("; "));
        }
        let after = event.ok().and_then(|(happened, _)| hook::warm_up(&wired.call, &host, happened));
        did.later.iter().chain(&after).for_each(|later| start(&wired, *later));
        wired.call.abandon_glance();
        reply::render(self.agent, self.moment, &in_its_words(did.answer))
    }

    fn host(&self, attended: bool) -> Host {
        let installed = self.manner != Manner::Contract;
        let program = environment::called_as().filter(|_| installed);
        let folder = environment::agent_folder(self.agent).filter(|_| !self.agent.transcripts.is_empty());
        Host {
            agent: self.agent.name.to_owned(),
            context_max: self.agent.context_max,
            has_skill: self.agent.has_skill,
            goes_on_held: reply::goes_on(self.agent, false),
            goes_on_told: reply::goes_on(self.agent, true),
            transcripts: folder.map(|folder| folder.join(self.agent.transcripts)),
            temp: Some(environment::private_temp()),
            manner: self.manner,
            attended,
            program: program
                .map_or_else(|| machine::NAME.to_owned(), |path| install::quoted(&path.to_string_lossy())),
            says_when_it_compacts: self.agent.compaction_is_certain,
            early: self.early,
        }
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            self.out.say(text);
        }
    }

    /// Says what of the settings cannot be used.
    fn warn(&self, wired: &Wired, happened: &Happened) {
        if self.quiet {
            return;
        }
        let warned = hook::warnings(&wired.call, happened);
        self.out.warnings(&warned.named);
        if warned.unnamed > 0 {
            self.out.note(format!(
                "{} of the project's settings cannot be used: `heirloom config list` names them",
                warned.unnamed
            ));
        }
    }
}

/// The agent that really calls, where hooks of this one are run by another.
fn borrower(agent: &'static Agent) -> Option<&'static Agent> {
    let calls = |name: &str| environment::of_agent(name).is_some();
    let found =
        BORROWERS.iter().find(|(_, of, set, unset)| of.name == agent.name && calls(set) && !calls(unset));
    found.map(|(borrower, ..)| *borrower)
}

/// Ends the process, silently and with 0, before the agent would: to some a hook that hangs is one that refuses.
#[allow(clippy::disallowed_methods, reason = "there is nobody left to return to")]
fn give_up_after(moment: Moment) {
    let patience = Duration::from_secs(moment.timeout_seconds().into()) * 4 / 5;
    let watch = std::thread::Builder::new().stack_size(64 << 10).spawn(move || {
        std::thread::sleep(patience);
        std::process::exit(0);
    });
    // Without a thread there is no memory for much else either.
    drop(watch);
}

/// Lets another process do what takes long, so that nobody waits for it.
fn start(wired: &Wired, later: Later) {
    match later {
        Later::Embed => super::model::start_in_background(wired),
        Later::Expire => super::clear::expire_in_background(wired),
        Later::Propose => super::propose::start_in_background(wired),
    }
}

fn in_our_words(call: Call, cwd: &Path) -> Happened {
    let targets = |targets: Vec<Target>| targets.into_iter().map(target).collect();
    let event = match call.event {
        Event::SessionStart { afresh } => hook::Event::SessionStart { afresh },
        Event::Prompt { text } => hook::Event::Prompt { text },
        Event::PreWrite { targets: all, folder } => hook::Event::PreWrite { targets: targets(all), folder },
        Event::PostWrite { targets: all, folder } => hook::Event::PostWrite { targets: targets(all), folder },
        Event::Stop { active, prompt, last_message, conversation } => {
            let said = |said: Said| hook::Said { by_person: said.by_person, text: said.text, at: said.at };
            let conversation = conversation.into_iter().map(said).collect();
            hook::Event::Stop { active, prompt, last_message, conversation }
        }
        Event::PreCompact { certain } => hook::Event::PreCompact { certain },
        Event::SessionEnd => hook::Event::SessionEnd,
    };
    Happened { event, session: call.session, transcript: call.transcript, cwd: cwd.to_owned() }
}

fn target(target: Target) -> hook::Target {
    match target {
        Target::File(path) => hook::Target::File(path),
        Target::Command(command) => hook::Target::Command(command),
        Target::Seen(path) => hook::Target::Seen(path),
    }
}

fn in_its_words(answer: hook::Answer) -> Answer {
    match answer {
        hook::Answer::Nothing => Answer::Nothing,
        hook::Answer::Context(text) => Answer::Context(text),
        hook::Answer::Deny(text) => Answer::Deny(text),
        hook::Answer::Undo(text) => Answer::Undo(text),
        hook::Answer::Hold(text) => Answer::Hold(text),
        hook::Answer::Ask(text) => Answer::Ask(text),
        hook::Answer::Suggest(text) => Answer::Suggest(text),
    }
}
