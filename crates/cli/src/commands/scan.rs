//! `scan`: the gate's eyes on files, folders, standard input, git's history, a store, or a stream of requests.

use super::scan_report::{name_left_out, print, sarif};
use crate::args::{Args, Scan};
use crate::output::{Meter, Out, counted};
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, Verb, fault::Result, json};
use heirloom_engine::Call;
use heirloom_engine::verbs::remove::{self, Redact, Redacted};
use heirloom_engine::verbs::scan::{self, Scanned, Text};
use serde_json::{Value, json};
use std::io::{BufRead as _, Read as _, Write as _};

/// The longest request line.
const MAX_REQUEST: u64 = 64 << 20;
/// How standard input is called.
const STDIN: &str = "<stdin>";

pub(crate) fn run(args: &Args, call: &Scan, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    for error in wired.call.screen().rule_errors() {
        out.note(error.to_string());
    }
    if call.fix && !call.store {
        return Err(Fault::new(Code::Usage, "--fix changes only this project's memory")
            .hint("`heirloom scan --store --fix` does that; change other files yourself"));
    }
    if call.store {
        return store(&mut wired, call, out);
    }
    if args.json && call.paths.is_empty() && !call.history {
        return requests(&wired.call, &call.shelf);
    }
    let found = look(&wired, call)?;
    name_left_out(out, &found.left_out);
    if call.sarif {
        out.json(&sarif(&found.findings));
    } else {
        out.answer(&found, || print(out, &found));
    }
    Ok(if found.is_serious() { exit::REFUSED } else { exit::OK })
}

fn look(wired: &wiring::Wired, call: &Scan) -> Result<Scanned> {
    let mut found = Scanned::default();
    let (streams, paths): (Vec<&String>, Vec<&String>) = call.paths.iter().partition(|path| *path == "-");
    if !streams.is_empty() {
        let mut stdin = std::io::stdin().lock();
        found = scan::scan_stream(&wired.call, Some(&call.shelf), STDIN, &mut stdin)?;
    }
    if paths.is_empty() && !streams.is_empty() {
        return Ok(found);
    }
    let ask = scan::Scan {
        paths: paths.into_iter().map(|path| wired.cwd.join(path)).collect(),
        history: call.history,
        row: Some(call.shelf.clone()),
        from: Some(wired.cwd.clone()),
    };
    let mut meter = Meter::new();
    let more = scan::scan(&wired.call, &ask, &mut |at| meter.show(at))?;
    found.looked += more.looked;
    found.findings.extend(more.findings);
    found.left_out.extend(more.left_out);
    Ok(found)
}

/// What the memory already holds; with `--fix` what the gate refuses is cut out.
fn store(wired: &mut wiring::Wired, call: &Scan, out: &Out) -> Result<u8> {
    let mut found = remove::redact(&wired.call, &Redact { fix: false })?;
    if call.fix && !found.held.is_empty() {
        person::checked(wired, Verb::Redact)?;
        remove::permitted(&wired.call, Verb::Redact, "")?;
        let question =
            format!("Cut what the gate refuses out of {}?", counted(found.held.len(), "file", "files"));
        if person::confirm(&question, call.yes)? {
            found = remove::redact(&wired.call, &Redact { fix: true })?;
        }
    }
    let Redacted { held, fixed, left } = &found;
    out.answer(&found, || {
        if held.is_empty() {
            out.line(out.style.green("nothing in this memory that the gate would refuse"));
        }
        for problem in left {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            out.line(format!("{}{line}: {}", out.style.bold(&problem.file), problem.message));
        }
        for file in fixed {
            out.line(format!("{} {file}", out.style.green("redacted")));
        }
        if !fixed.is_empty() {
            out.note("git may still have earlier versions; `heirloom scan --history` checks");
        }
    });
    Ok(if left.is_empty() { exit::OK } else { exit::REFUSED })
}

/// One verdict per request line.
fn requests(call: &Call, usual: &str) -> Result<u8> {
    // A row nobody knows is an error of the command, not of every line.
    scan::judge(call, &Text::default(), usual)?;
    let mut input = std::io::stdin().lock();
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let closed = |e: std::io::Error| Fault::new(Code::Io, format!("the stream broke: {e}"));
    loop {
        let mut line = Vec::new();
        if (&mut input).take(MAX_REQUEST).read_until(b'\n', &mut line).map_err(closed)? == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match json::parse(&line) {
            Ok(request) => answer(call, usual, &request),
            Err(e) => json!({ "error": { "code": Code::Input.name(), "message": e.to_string() } }),
        };
        serde_json::to_writer(&mut output, &answer).map_err(|e| closed(e.into()))?;
        output.write_all(b"\n").and_then(|()| output.flush()).map_err(closed)?;
    }
    Ok(exit::OK)
}

fn answer(call: &Call, usual: &str, request: &Value) -> Value {
    let text = |key: &str| request.get(key).and_then(Value::as_str).map(str::to_owned);
    let id = request.get("id").cloned().unwrap_or(Value::Null);
    let refused = |why: &str| json!({ "id": id, "error": { "code": Code::Input.name(), "message": why } });
    let Some(content) = text("text") else { return refused("`text` is missing") };
    let ask = Text { text: content, shelf: text("shelf"), trust: text("trust") };
    let judged = match scan::judge(call, &ask, usual) {
        Ok(judged) => judged,
        Err(fault) => return refused(&fault.message),
    };
    let mut answer = json!({ "id": id, "action": judged.action, "findings": judged.findings });
    if let Some(stored) = judged.text {
        answer["text"] = json!(stored);
    }
    answer
}
