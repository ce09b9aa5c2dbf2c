//! `add`: save a memory from a few words.

mod lesson;
mod note;
mod vault;

use super::{anchor, auto_commit, input, pairs, print_done};
use crate::args::{Add, Args};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::kind::OTHER_KINDS;
use heirloom_core::{Code, Fault, Kind, MemoryId, fault::Result, time};
use heirloom_engine::shelf::Done;
use heirloom_engine::shelf::records::{Document, Given, Said, compose, name_for};

pub(crate) use vault::source;

pub(crate) fn run(args: &Args, call: &Add, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    let save = || match Kind::built_in(&call.kind) {
        Some(Kind::Lesson) => lesson::add(&wired, call, out),
        Some(Kind::Note) => note::add(&wired, call, out),
        Some(kind @ (Kind::Canon | Kind::Register)) => vault::add(&wired, call, &kind, out),
        _ => record(&wired, call, out),
    };
    let done = match Kind::built_in(&call.kind) {
        Some(Kind::Fact) => return super::remember::fact(&wired, call, out),
        Some(Kind::Episode) => return super::remember::episode(&wired, call, out),
        _ => anchor::with_anchors(&wired, &call.anchor, save, |done| Some(done.as_ref()?.id.clone()))?,
    };
    let Some(done) = done else { return Ok(exit::OK) };
    out.answer(&done, || print_done(out, word(done.status), &done));
    auto_commit(&wired, out, &format!("memory: add {}", done.id));
    Ok(exit::OK)
}

fn word(status: &str) -> &str {
    match status {
        "created" => "saved",
        "already_there" | "already_retired" => "known",
        other => other,
    }
}

/// Refuses flags that this kind has no use for: silence would lose what somebody typed.
pub(super) fn only(call: &Add, allowed: &[&str]) -> Result<()> {
    let given = [
        ("--title", call.title.is_some()),
        ("--field", !call.field.is_empty()),
        ("--tag", !call.tag.is_empty()),
        ("--topic", call.topic.is_some()),
        ("--scope", call.scope.is_some()),
        ("--category", call.category.is_some()),
        ("--subject", call.subject.is_some()),
        ("--file", !call.file.is_empty()),
        ("--confidence", call.confidence.is_some()),
        ("--at", call.at.is_some()),
        ("--anchor", !call.anchor.is_empty()),
    ];
    // Whatever belongs to the project can cite its code.
    let of_a_person = matches!(Kind::built_in(&call.kind), Some(Kind::Fact | Kind::Episode));
    let allowed: Vec<&str> = allowed.iter().copied().chain((!of_a_person).then_some("--anchor")).collect();
    match given.iter().find(|(name, is_given)| *is_given && !allowed.contains(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Fault::new(Code::Usage, format!("a {} has no {name}", call.kind))
            .hint(format!("it takes {}", allowed.join(", ")))),
    }
}

fn record(wired: &Wired, call: &Add, out: &Out) -> Result<Option<Done>> {
    let settings = wired.call.settings();
    let Some(category) = settings.category(&call.kind) else {
        let shelves = OTHER_KINDS.iter().filter(|row| row.name != Kind::Working.name()).map(|row| row.name);
        let names: Vec<&str> = settings.categories.iter().map(|c| c.name()).chain(shelves).collect();
        return Err(Fault::new(Code::Usage, format!("there is no kind `{}`", call.kind))
            .fact("category", call.kind.as_str())
            .hint(format!(
                "use one of {}, or `heirloom config category add {}`",
                names.join(", "),
                call.kind
            )));
    };
    only(call, &["--title", "--field", "--tag", "--file", "--confidence"])?;
    let document = match &call.from {
        Some(file) => read_document(file)?,
        None => {
            let given = Given {
                sentence: call.text.join(" "),
                title: call.title.clone(),
                fields: pairs(&call.field)?,
                tags: call.tag.clone(),
                files: call.file.clone(),
                confidence: call.confidence,
            };
            compose(category, &given, &time::format(wired.call.project().world().now))?
        }
    };
    if call.dry_run {
        out.raw(&document.to_bytes());
        return Ok(None);
    }
    let records = wired.call.records();
    let name = document
        .text("id")
        .filter(|id| !id.is_empty())
        .map_or_else(|| name_for(document.text("title").unwrap_or_default()), heirloom_core::text::slug);
    let place = records.folder(category).join(format!("{name}.json"));
    let shown = wired.call.project().shown(&place);
    let target = records.target(&shown, wired.call.project().folder())?;
    let mut said = Said::default();
    records.create(&target, category, document, person::entry(), &mut said)?;
    let id = MemoryId::new(&category.kind, &name);
    Ok(Some(Done { status: "created", id, path: Some(shown), notes: said.warnings }))
}

fn read_document(file: &str) -> Result<Document> {
    let mut document = Document::parse(&input::bytes(file)?).map_err(|why| {
        Fault::new(Code::Input, format!("`{file}` holds no record: {why}"))
            .fact("path", file)
            .hint("give one JSON object with title, tags and content")
    })?;
    document.fill_name();
    Ok(document)
}

/// The words of the call, or the text of its file.
pub(super) fn words(call: &Add) -> Result<String> {
    match (&call.from, call.text.is_empty()) {
        (Some(file), true) => input::text(file),
        (Some(_), false) => Err(Fault::new(Code::Usage, "there is a text and a file to take it from")
            .hint("give the text or --from, not both")),
        (None, _) => Ok(call.text.join(" ")),
    }
}

/// The object of fields that a text is, if it is one.
fn object(text: &str) -> Option<serde_json::Value> {
    let looks = text.trim_start().starts_with('{');
    looks
        .then(|| heirloom_core::json::parse(text.as_bytes()).ok())
        .flatten()
        .filter(|value| value.is_object())
}
