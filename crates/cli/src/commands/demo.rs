//! `demo`: everything in a temporary project, a line of explanation each.
//!
//! Comes in: nothing. Goes out: what each verb answers, as a person and as an agent. Never here: a file of anybody's; the project goes away again.

use crate::args::Args;
use crate::output::Out;
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::settings::{Layer, Origin, empty_document, load};
use heirloom_core::{Audience, Caller, Code, Fault, MemoryId, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::verbs::Outcome;
use heirloom_engine::verbs::add::{Add, New, NewRecord, add};
use heirloom_engine::verbs::edit::{Edit, edit};
use heirloom_engine::verbs::life::{self, Move};
use heirloom_engine::verbs::recall::{Recall, recall};
use heirloom_engine::verbs::show::{self, Show};
use heirloom_engine::verbs::trail;
use heirloom_engine::{Call, Deployment, Project};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most characters of the block that is shown.
const BLOCK: usize = 6_000;

/// The folder goes away however the demo ends.
struct Temporary(std::path::PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The project of the demo: whoever watches is its person, and an agent comes to it as well.
pub(super) struct Stage {
    folder: PathBuf,
    deployment: Arc<Deployment>,
}

impl Stage {
    fn at(folder: &Path) -> Result<Stage> {
        files::make_folder(&folder.join("project/.claude/memory"), Mode::Shared)?;
        let deployment = Arc::new(Deployment::default().with_dice(wiring::random));
        Ok(Stage { folder: folder.to_owned(), deployment })
    }

    fn call(&self, caller: impl FnOnce(&str) -> Caller) -> Call {
        let mut world = wiring::world();
        world.data = self.folder.join("data");
        let settings = load(&[Layer { origin: Origin::Project, document: empty_document() }]).settings;
        let caller = caller(&world.user);
        let project = self.folder.join("project");
        let root = project.join(".claude/memory");
        self.deployment.call(Project::new(&project, &root, world), settings, caller)
    }

    pub(super) fn person(&self) -> Call {
        self.call(Caller::person)
    }

    pub(super) fn agent(&self) -> Call {
        self.call(|user| Caller::process(user).as_agent(None, Audience::of(vec!["shared".to_owned()])))
    }
}

pub(crate) fn run(_args: &Args, out: &Out) -> Result<u8> {
    let folder =
        crate::environment::temp_folder().join(format!("heirloom-demo-{}", &wiring::world().nonce[..12]));
    let temporary = Temporary(folder.clone());
    story(&Stage::at(&folder)?, out)?;
    drop(temporary);
    Ok(exit::OK)
}

fn story(stage: &Stage, out: &Out) -> Result<()> {
    let style = out.style;
    let step = |text: &str| out.line(format!("\n{} {text}", style.cyan("▸")));
    out.line(style.bold("Heirloom: memory for AI agents that people can read, trust and version"));
    out.line(style.dim("(everything below happens in a temporary project that is removed afterwards)"));

    step("Save what the project knows. A sentence is enough; it becomes a typed, validated file.");
    let postgres = save(
        stage,
        out,
        "decision",
        "Use PostgreSQL for orders because we need jsonb and row locks",
        &["database"],
    )?;
    save(
        stage,
        out,
        "preference",
        "Restart the queue worker when jobs pile up because it leaks connections",
        &["queue", "worker"],
    )?;
    save(
        stage,
        out,
        "constraint",
        "The payment API allows 100 requests per minute because of our contract",
        &["payment", "api"],
    )?;
    let debt = save(
        stage,
        out,
        "tech_debt",
        "Replace the hand-written CSV parser because quoting is broken",
        &["csv"],
    )?;

    step("The gate looks at every write. A secret is refused, and the error does not repeat it.");
    // Put together at run time, so that no scanner mistakes this file for a leak.
    let secret = format!("The deploy token is gh{}_{}", "p", "x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo");
    match save(stage, out, "decision", &secret, &[]) {
        Err(fault) if fault.code == Code::GateRefused => {
            out.line(format!("  {} {} [{}]", style.red("refused:"), fault.message, fault.code.name()));
            out.line(format!("  {} {}", style.cyan("next:"), fault.next_step()));
        }
        Err(other) => return Err(other),
        Ok(_) => return Err(Fault::new(Code::Internal, "the demo's secret was stored")),
    }

    step("Things change. An update keeps history and cannot lose tags, files or earlier changes.");
    let change = Edit {
        id: postgres.to_string(),
        fields: vec![("status".to_owned(), "superseded".to_owned())],
        ..Edit::default()
    };
    edit(&stage.person(), &change)?.done()?;
    for past in show::history(&stage.person(), &Show { id: postgres.to_string() })? {
        out.line(format!("  {}  {}", style.dim(&past.change.at), past.change.summary));
    }

    step("What is done is retired: out of recall at once, restorable for 30 days, then collected.");
    let ask = Move { ids: vec![debt.to_string()], reason: Some("The parser was replaced".to_owned()) };
    for outcome in life::retire(&stage.person(), &ask)? {
        let done = outcome.done()?;
        out.line(format!("  {} {}", done.status, done.id));
    }

    step("At a prompt the agent gets what fits, fenced and labelled. This is the block for");
    let prompt = "the payment api returns 429, how do we queue the orders?";
    out.line(format!("  {}", style.dim(&format!("“{prompt}”"))));
    let ask = Recall { prompt: prompt.to_owned(), most: Some(BLOCK), ..Recall::default() };
    out.raw(indent(&recall(&stage.agent(), &ask)?.block).as_bytes());

    super::demo_shelves::story(stage, out)?;

    step("Everything that happened is in a hash-chained audit, without a word of content.");
    let count = trail::verify_audit(&stage.person())?.entries;
    let ask = trail::Audit { id: None, verdict: Some("refuse".to_owned()), event: None, limit: usize::MAX };
    let refused = trail::audit(&stage.person(), &ask)?.len();
    out.line(format!("  {count} entries, chain whole, {refused} refusal"));

    out.line(format!(
        "\n{} heirloom init && heirloom add decision \"…\"",
        style.bold("In your own project:")
    ));
    Ok(())
}

fn save(stage: &Stage, out: &Out, category: &str, sentence: &str, tags: &[&str]) -> Result<MemoryId> {
    let new = NewRecord {
        category: category.to_owned(),
        text: sentence.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..NewRecord::default()
    };
    saved(stage, out, New::Record(new))
}

/// Saves something as the person.
pub(super) fn saved(stage: &Stage, out: &Out, new: New) -> Result<MemoryId> {
    match add(&stage.person(), &Add::of(new))? {
        Outcome::Done(added) => {
            out.line(format!("  {} {}", out.style.green("saved"), added.id));
            Ok(added.id)
        }
        Outcome::Waits(waiting) => Err(waiting.into()),
    }
}

pub(super) fn indent(block: &str) -> String {
    block.lines().map(|line| format!("  {line}\n")).collect()
}
