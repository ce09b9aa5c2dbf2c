//! `demo`: everything in a temporary project, a line of explanation each.

use crate::args::Args;
use crate::output::Out;
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::settings::{Layer, Origin, empty_document, load};
use heirloom_core::{Caller, Channel, Code, Fault, MemoryId, fault::Result, hash, time};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::gate::{Entry, audit};
use heirloom_engine::inject::records_block;
use heirloom_engine::recall::title_tags::recall;
use heirloom_engine::shelf::Shelf as _;
use heirloom_engine::shelf::records::{Given, Said, Version, compose};
use heirloom_engine::{Call, Deployment, Project};
use std::sync::Arc;

/// The folder goes away however the demo ends.
struct Temporary(std::path::PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run(_args: &Args, out: &Out) -> Result<u8> {
    let mut world = wiring::world();
    let folder = crate::environment::temp_folder().join(format!("heirloom-demo-{}", &world.nonce[..12]));
    let temporary = Temporary(folder.clone());
    world.data = folder.join("data");
    let root = folder.join("project/.claude/memory");
    files::make_folder(&root, Mode::Shared)?;
    let settings = load(&[Layer { origin: Origin::Project, document: empty_document() }]).settings;
    let deployment = Arc::new(Deployment::default().with_dice(wiring::random));
    // Whoever watches is the person of this store, which goes away again.
    let caller = Caller::person(&world.user);
    let engine = deployment.call(Project::new(&folder.join("project"), &root, world), settings, caller);
    story(&engine, out)?;
    drop(temporary);
    Ok(exit::OK)
}

fn story(engine: &Call, out: &Out) -> Result<()> {
    let style = out.style;
    let step = |text: &str| out.line(format!("\n{} {text}", style.cyan("▸")));
    out.line(style.bold("Heirloom: memory for AI agents that people can read, trust and version"));
    out.line(style.dim("(everything below happens in a temporary project that is removed afterwards)"));

    step("Save what the project knows. A sentence is enough; it becomes a typed, validated file.");
    let postgres = save(
        engine,
        out,
        "decision",
        "Use PostgreSQL for orders because we need jsonb and row locks",
        &["database"],
    )?;
    save(
        engine,
        out,
        "preference",
        "Restart the queue worker when jobs pile up because it leaks connections",
        &["queue", "worker"],
    )?;
    save(
        engine,
        out,
        "constraint",
        "The payment API allows 100 requests per minute because of our contract",
        &["payment", "api"],
    )?;
    let debt = save(
        engine,
        out,
        "tech_debt",
        "Replace the hand-written CSV parser because quoting is broken",
        &["csv"],
    )?;

    step("The gate looks at every write. A secret is refused, and the error does not repeat it.");
    // Put together at run time, so that no scanner mistakes this file for a leak.
    let secret = format!("The deploy token is gh{}_{}", "p", "x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo");
    match save(engine, out, "decision", &secret, &[]) {
        Err(fault) if fault.code == Code::GateRefused => {
            out.line(format!("  {} {} [{}]", style.red("refused:"), fault.message, fault.code.name()));
            out.line(format!("  {} {}", style.cyan("next:"), fault.next_step()));
        }
        Err(other) => return Err(other),
        Ok(_) => return Err(Fault::new(Code::Internal, "the demo's secret was stored")),
    }

    step("Things change. An update keeps history and cannot lose tags, files or earlier changes.");
    let records = engine.records();
    let target = records.locate(&postgres)?;
    let bytes = files::read(&target.path, files::MAX_FILE)?;
    let mut document =
        records.document(&postgres)?.ok_or_else(|| heirloom_engine::shelf::unknown(postgres.as_str()))?;
    document.set_content("status", "superseded");
    let version = Version::Exactly(hash::sha256(&bytes));
    records.update(&target, document, &version, engine.project().folder(), person(), &mut Said::default())?;
    for change in records.history(&postgres)? {
        out.line(format!("  {}  {}", style.dim(&change.at), change.summary));
    }

    step("What is done is retired: out of recall at once, restorable for 30 days, then collected.");
    let done = records.retire(&debt, "The parser was replaced", person())?;
    out.line(format!("  {} {}", done.status, done.id));

    step("At a prompt the agent gets what fits, fenced and labelled. This is the block for");
    let prompt = "the payment api returns 429, how do we queue the orders?";
    out.line(format!("  {}", style.dim(&format!("“{prompt}”"))));
    let hits = recall(engine, prompt)?;
    out.raw(indent(&records_block(engine, &hits, 6_000)).as_bytes());

    super::demo_shelves::story(engine, out)?;

    step("Everything that happened is in a hash-chained audit, without a word of content.");
    let path = engine.project().local()?.path("audit.jsonl");
    let count = audit::verify(&path)?.entries;
    let refused = audit::entries(&path)?.iter().filter(|e| e["verdict"] == "refuse").count();
    out.line(format!("  {count} entries, chain whole, {refused} refusal"));

    out.line(format!(
        "\n{} heirloom init && heirloom add decision \"…\"",
        style.bold("In your own project:")
    ));
    Ok(())
}

pub(super) fn person() -> Entry {
    Entry::through(Channel::Person)
}

fn save(engine: &Call, out: &Out, category: &str, sentence: &str, tags: &[&str]) -> Result<MemoryId> {
    let category = engine
        .settings()
        .category(category)
        .ok_or_else(|| Fault::new(Code::Internal, format!("no category {category}")))?;
    let given = Given {
        sentence: sentence.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..Given::default()
    };
    let document = compose(category, &given, &time::format(engine.project().world().now))?.document;
    let records = engine.records();
    let name = document.text("id").unwrap_or_default().to_owned();
    let place = engine.project().shown(&records.folder(category).join(format!("{name}.json")));
    let target = records.target(&place, engine.project().folder())?;
    records.create(&target, category, document, person(), &mut Said::default())?;
    let id = MemoryId::new(&category.kind, &name);
    out.line(format!("  {} {}", out.style.green("saved"), id));
    Ok(id)
}

pub(super) fn indent(block: &str) -> String {
    block.lines().map(|line| format!("  {line}\n")).collect()
}
