//! `add`: save a memory from a few words.

use super::{auto_commit, pairs};
use crate::args::{Add, Args};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result, time};
use heirloom_engine::shelf::records::{Document, Given, Said, compose, name_for};
use serde_json::json;
use std::io::Read as _;

/// The largest record that is read from standard input.
const MAX_INPUT: u64 = 1 << 20;

pub(crate) fn run(args: &Args, call: &Add, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(&wired.loaded.warnings);
    let settings = wired.engine.settings();
    let Some(category) = settings.category(&call.category) else {
        let names: Vec<&str> = settings.categories.iter().map(|c| c.name()).collect();
        return Err(Fault::new(Code::Usage, format!("there is no kind `{}`", call.category))
            .fact("category", call.category.as_str())
            .hint(format!(
                "use one of {}, or `heirloom config category add {}`",
                names.join(", "),
                call.category
            )));
    };
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
            compose(category, &given, &time::format(wired.engine.project().world().now))?
        }
    };
    if call.dry_run {
        out.raw(&document.to_bytes());
        return Ok(exit::OK);
    }
    let records = wired.engine.records();
    let name = document
        .text("id")
        .filter(|id| !id.is_empty())
        .map_or_else(|| name_for(document.text("title").unwrap_or_default()), heirloom_core::text::slug);
    let place = records.folder(category).join(format!("{name}.json"));
    let shown = wired.engine.project().shown(&place);
    let target = records.target(&shown, wired.engine.project().folder())?;
    let mut said = Said::default();
    let answer = records.create(&target, category, document, person::entry(), &mut said)?;
    let id = format!("{}:{name}", category.name());
    out.answer(&json!({ "status": "created", "id": id, "path": shown, "title": answer["title"], "notes": said.warnings }), || {
        out.line(format!("{} {} {}", out.style.green("saved"), out.style.bold(&id), out.style.dim(&shown)));
        said.warnings.iter().for_each(|warning| out.note(warning));
    });
    auto_commit(&wired, out, &format!("memory: add {id}"));
    Ok(exit::OK)
}

fn read_document(file: &str) -> Result<Document> {
    let bad = |why: String| {
        Fault::new(Code::Input, format!("`{file}` holds no record: {why}"))
            .fact("path", file)
            .hint("give one JSON object with title, tags and content")
    };
    let mut bytes = Vec::new();
    if file == "-" {
        std::io::stdin()
            .lock()
            .take(MAX_INPUT + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| bad(e.to_string()))?;
        if bytes.len() as u64 > MAX_INPUT {
            return Err(bad(format!("more than {MAX_INPUT} bytes")));
        }
    } else {
        bytes = heirloom_engine::files::read(std::path::Path::new(file), MAX_INPUT)
            .map_err(|fault| bad(fault.message))?;
    }
    let mut document = Document::parse(&bytes).map_err(bad)?;
    document.fill_name();
    Ok(document)
}
