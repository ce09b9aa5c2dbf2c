//! `hook`: what coding agents call. One short process per event; whatever goes wrong, the agent goes on.
//!
//! Comes in: a moment, an agent, and the agent's JSON on standard input. Goes out: an answer in that agent's words, and a line in the
//! trace. What happens at each event is the engine's. Never here: an exit code other than 0, except the 2 with which a stop is held up;
//! an error on standard output.

use crate::args::{Args, Hook};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{environment, hook_input, wiring};
use heirloom_agents::reply::{self, Answer, Output};
use heirloom_agents::table::{Agent, CLAUDE_CODE, Moment};
use heirloom_agents::wire::{self, Silence};
use heirloom_agents::{Call, Event, Target};
use heirloom_core::fault::Result;
use heirloom_engine::budget::Budget;
use heirloom_engine::verbs::hook::{self, Did, Ended, Happened, Host, Later};
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &Args, call: &Hook, out: &Out) -> Result<u8> {
    let started = Instant::now();
    let agent = call.agent.as_deref().map_or(Some(&CLAUDE_CODE), Agent::named);
    let (Some(agent), Some(moment)) = (agent, Moment::named(&call.moment)) else {
        // A newer plugin may know hooks and agents that this program does not; that is no reason to stop anybody.
        out.say(format!("heirloom knows no hook `{}` of that agent", call.moment));
        return Ok(0);
    };
    let running = Running { args, agent, moment, out, started };
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
        let happened = in_our_words(call, &cwd);
        self.in_project(&cwd, Ok(&happened))
    }

    /// A failure before the project is known: the trace of the folder the hook was started in gets the line.
    fn failed_early(&self, why: &str) -> Output {
        let Ok(here) = environment::current_folder() else { return Output::default() };
        self.in_project(&here, Err(why))
    }

    fn in_project(&self, cwd: &Path, event: std::result::Result<&Happened, &str>) -> Output {
        let wired = match wiring::wire_around(self.args, cwd) {
            // From here on: how long a host takes to send its event is not the hook's.
            Ok(wired) => wired.within(Budget::of_a_hook({
                let began = Instant::now();
                move || began.elapsed()
            })),
            Err(fault) => {
                self.out.say(fault.message);
                return Output::default();
            }
        };
        let _holding = wired.call.budget().hold();
        let host = self.host();
        let mut did = match event {
            Ok(happened) => {
                self.warn(&wired, happened);
                hook::run(&wired.call, &host, happened).unwrap_or_else(|fault| Did::failed(fault.message))
            }
            Err(why) => Did::failed(why),
        };
        did.log.iter().for_each(|line| self.out.say(line));
        if let Some(fault) = wired.left_out() {
            did.because.push(format!("the tiers are left out: {}", fault.message));
        }
        let micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        hook::note(&wired.call, &host, self.moment.name(), &did, micros);
        if did.ended == Ended::Failed {
            self.out.say(did.because.join("; "));
        }
        let after = event.ok().and_then(|happened| hook::warm_up(&wired.call, happened));
        did.later.iter().chain(&after).for_each(|later| start(&wired, *later));
        wired.call.abandon_glance();
        reply::render(self.agent, self.moment, &in_its_words(did.answer))
    }

    fn host(&self) -> Host {
        let folder = environment::agent_folder(self.agent).filter(|_| !self.agent.transcripts.is_empty());
        Host {
            agent: self.agent.name.to_owned(),
            context_max: self.agent.context_max,
            has_skill: self.agent.has_skill,
            goes_on_held: reply::goes_on(self.agent, false),
            goes_on_told: reply::goes_on(self.agent, true),
            transcripts: folder.map(|folder| folder.join(self.agent.transcripts)),
            temp: Some(environment::private_temp()),
        }
    }

    /// Says what of the settings cannot be used.
    fn warn(&self, wired: &Wired, happened: &Happened) {
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
        Event::Stop { active, prompt, last_message } => hook::Event::Stop { active, prompt, last_message },
        Event::PreCompact => hook::Event::PreCompact,
        Event::SessionEnd => hook::Event::SessionEnd,
    };
    Happened { event, session: call.session, transcript: call.transcript, cwd: cwd.to_owned() }
}

fn target(target: Target) -> hook::Target {
    match target {
        Target::File(path) => hook::Target::File(path),
        Target::Command(command) => hook::Target::Command(command),
    }
}

fn in_its_words(answer: hook::Answer) -> Answer {
    match answer {
        hook::Answer::Nothing => Answer::Nothing,
        hook::Answer::Context(text) => Answer::Context(text),
        hook::Answer::Deny(text) => Answer::Deny(text),
        hook::Answer::Undo(text) => Answer::Undo(text),
        hook::Answer::Hold(text) => Answer::Hold(text),
        hook::Answer::Suggest(text) => Answer::Suggest(text),
    }
}
