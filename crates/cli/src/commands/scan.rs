//! `scan`: the gate's eyes on files, folders, standard input, git's history, a store, or a stream of requests.

use super::scan_report::{Place, print, sarif};
use crate::args::{Args, Scan};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, Trust, Verb, fault::Result, json};
use heirloom_engine::files;
use heirloom_engine::gate::policy::{Act, Row};
use heirloom_engine::gate::scan::{Class, Finding};
use heirloom_engine::gate::{Screen, Verdict};
use heirloom_engine::git;
use heirloom_engine::verbs::remove::{self, Redacted};
use serde_json::{Value, json};
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The largest file that is looked at.
const MAX_FILE: u64 = 64 << 20;
/// The longest request line.
const MAX_REQUEST: u64 = 64 << 20;

pub(crate) fn run(args: &Args, call: &Scan, out: &Out) -> Result<u8> {
    let mut wired = wiring::wire(args)?;
    let screen = wired.call.screen();
    for error in screen.rule_errors() {
        out.note(error.to_string());
    }
    let row = Row::named(&call.shelf).ok_or_else(|| {
        let names: Vec<&str> = Row::ALL.iter().map(|row| row.name()).collect();
        Fault::new(Code::Usage, format!("there is no row `{}`", call.shelf))
            .hint(format!("use one of {}", names.join(", ")))
    })?;
    if call.store {
        return store(&mut wired, call, out);
    }
    if args.json && call.paths.is_empty() && !call.history {
        return requests(screen, row);
    }
    let mut places = Vec::new();
    let mut looked = 0;
    let mut look = |name: &str, text: &str, first_line: usize| {
        looked += 1;
        let verdict = screen.verdict(text, row, Trust::Low);
        for (finding, act) in verdict.findings {
            places.push(Place::new(name, text, first_line, &finding, act));
        }
    };
    if call.history {
        history(wired.call.project().folder(), &mut look)?;
    } else if call.paths.is_empty() {
        return Err(Fault::new(Code::Usage, "nothing to look at")
            .hint("name files or folders, `-`, --history or --store"));
    } else {
        for path in &call.paths {
            path_or_stdin(path, &wired.cwd, &mut look, out)?;
        }
    }
    if call.sarif {
        out.json(&sarif(&places));
    } else {
        out.answer(&places, || print(out, &places, looked));
    }
    Ok(if places.iter().any(|place| place.act >= Act::Neutralise) { exit::REFUSED } else { exit::OK })
}

type Look<'a> = dyn FnMut(&str, &str, usize) + 'a;

fn path_or_stdin(path: &str, cwd: &Path, look: &mut Look<'_>, out: &Out) -> Result<()> {
    if path == "-" {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(MAX_FILE).read_to_end(&mut bytes);
        read.map_err(|e| Fault::new(Code::Io, format!("cannot read standard input: {e}")))?;
        look("<stdin>", &String::from_utf8_lossy(&bytes), 1);
        return Ok(());
    }
    let full = cwd.join(path);
    let meta = std::fs::symlink_metadata(&full).map_err(|_| {
        Fault::new(Code::NotFound, format!("there is no file or folder `{path}`"))
            .fact("path", path)
            .hint("check the name")
    })?;
    let list = if meta.is_dir() { files_below(&full) } else { vec![full.clone()] };
    for file in list {
        let shown = file.strip_prefix(cwd).unwrap_or(&file).display().to_string();
        match files::read(&file, MAX_FILE) {
            // Text only: a zero byte in the first block means a binary file, as git has it.
            Ok(bytes) if bytes.iter().take(8000).any(|b| *b == 0) => {}
            Ok(bytes) => look(&shown, &String::from_utf8_lossy(&bytes), 1),
            Err(fault) => out.note(fault.message),
        }
    }
    Ok(())
}

/// The files of a folder: what git tracks or would track, else everything that is not hidden.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    if let Some(found) = known_to_git(folder) {
        return found;
    }
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// What git tracks or would track in a folder; `None` if there is no work tree around it.
fn known_to_git(folder: &Path) -> Option<Vec<PathBuf>> {
    use std::os::unix::ffi::OsStrExt as _;
    let (mut command, top) = git::command(folder)?;
    let real = std::fs::canonicalize(folder).ok()?;
    let inside = real.strip_prefix(&top).ok()?;
    command.args(["--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    if !inside.as_os_str().is_empty() {
        command.arg("--").arg(inside);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    let names = output.stdout.split(|b| *b == 0).filter(|name| !name.is_empty());
    // Named as the folder was, not by where its links lead.
    let path =
        |name| Some(folder.join(Path::new(std::ffi::OsStr::from_bytes(name)).strip_prefix(inside).ok()?));
    Some(names.filter_map(path).filter(|path| path.is_file()).collect())
}

/// Every line that any commit added, file by file.
fn history(folder: &Path, look: &mut Look<'_>) -> Result<()> {
    let failed = |why: String| {
        Fault::new(Code::Io, format!("git's history cannot be read: {why}")).hint("run it in a git work tree")
    };
    let Some((mut command, _)) = git::command(folder) else { return Err(failed("there is none".to_owned())) };
    let mut child = command
        .args([
            "log",
            "--all",
            "--patch",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            // What a submodule changed would be asked of git in it, by its own settings.
            "--submodule=short",
            "--ignore-submodules=all",
            "--unified=0",
            "--format=commit %H",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| failed(e.to_string()))?;
    let Some(stdout) = child.stdout.take() else { return Err(failed("no output".to_owned())) };
    let (mut commit, mut file, mut hunk, mut first) = (String::new(), String::new(), String::new(), 1);
    let mut flush = |hunk: &mut String, commit: &str, file: &str, first: usize| {
        if !hunk.is_empty() {
            look(&format!("{}:{file}", commit.get(..12).unwrap_or(commit)), hunk, first);
            hunk.clear();
        }
    };
    for line in std::io::BufReader::new(stdout).split(b'\n') {
        let line = line.map_err(|e| failed(e.to_string()))?;
        let line = String::from_utf8_lossy(&line);
        if let Some(added) = line.strip_prefix('+').filter(|_| !line.starts_with("+++ ")) {
            hunk.push_str(added);
            hunk.push('\n');
            continue;
        }
        flush(&mut hunk, &commit, &file, first);
        if let Some(hash) = line.strip_prefix("commit ") {
            hash.clone_into(&mut commit);
        } else if let Some(name) = line.strip_prefix("+++ b/") {
            name.clone_into(&mut file);
        } else if line.starts_with("@@") {
            let start = line.split('+').nth(1).and_then(|rest| rest.split([',', ' ']).next());
            first = start.and_then(|n| n.parse().ok()).unwrap_or(1);
        }
    }
    flush(&mut hunk, &commit, &file, first);
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(failed("git ended with an error".to_owned())),
    }
}

/// What the memory already holds; with `--fix` what the gate refuses is cut out.
fn store(wired: &mut wiring::Wired, call: &Scan, out: &Out) -> Result<u8> {
    let mut found = remove::redact(&wired.call, false)?;
    if call.fix && !found.held.is_empty() {
        person::checked(wired, Verb::Redact)?;
        remove::permitted(&wired.call, Verb::Redact, "")?;
        let question = format!("Cut what the gate refuses out of {} files?", found.held.len());
        if person::confirm(&question, call.yes)? {
            found = remove::redact(&wired.call, true)?;
        }
    }
    let Redacted { held, fixed, left } = &found;
    out.answer(&found, || {
        if held.is_empty() {
            out.line(out.style.green("nothing stored that the gate would refuse"));
        }
        for problem in left {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            out.line(format!("{}{line}: {}", out.style.bold(&problem.file), problem.message));
        }
        for file in fixed {
            out.line(format!("{} {file}", out.style.green("redacted")));
        }
        if !fixed.is_empty() {
            out.note("git may still hold the earlier versions; `heirloom scan --history` tells");
        }
    });
    super::auto_commit(wired, out, "memory: redact");
    Ok(if left.is_empty() { exit::OK } else { exit::REFUSED })
}

/// One verdict per request line.
fn requests(screen: &Screen, default: Row) -> Result<u8> {
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
            Ok(request) => answer(screen, default, &request),
            Err(e) => json!({ "error": { "code": Code::Input.name(), "message": e.to_string() } }),
        };
        serde_json::to_writer(&mut output, &answer).map_err(|e| closed(e.into()))?;
        output.write_all(b"\n").and_then(|()| output.flush()).map_err(closed)?;
    }
    Ok(exit::OK)
}

fn answer(screen: &Screen, default: Row, request: &Value) -> Value {
    let text = |key: &str| request.get(key).and_then(Value::as_str);
    let id = request.get("id").cloned().unwrap_or(Value::Null);
    let Some(content) = text("text") else {
        return json!({ "id": id, "error": { "code": Code::Input.name(), "message": "`text` is missing" } });
    };
    let row = match text("shelf").map(Row::named) {
        None => default,
        Some(Some(row)) => row,
        Some(None) => {
            return json!({ "id": id, "error": { "code": Code::Input.name(), "message": "unknown shelf" } });
        }
    };
    let trust = match text("trust") {
        Some("high") => Trust::High,
        Some("medium") => Trust::Medium,
        _ => Trust::Low,
    };
    let Verdict { act, findings, stored } = screen.verdict(content, row, trust);
    let mut answer = json!({
        "id": id,
        "action": act_word(act),
        "findings": findings.iter().map(|(finding, _)| shown(finding)).collect::<Vec<_>>(),
    });
    if let Some(stored) = stored {
        answer["text"] = json!(stored);
    }
    answer
}

/// Reporting keeps the text as it is.
pub(super) fn act_word(act: Act) -> &'static str {
    match act {
        Act::Keep | Act::Report => "keep",
        Act::Neutralise => "neutralise",
        Act::Redact => "redact",
        Act::Confirm => "confirm",
        Act::Refuse => "refuse",
    }
}

fn shown(finding: &Finding) -> Value {
    let class = match finding.class {
        Class::Secret => "secret",
        Class::Identity | Class::Contact => "pii",
        Class::Injection => "injection",
    };
    json!({ "class": class, "kind": finding.rule, "level": finding.level, "span": [finding.span.start, finding.span.end] })
}
