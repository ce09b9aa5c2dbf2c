//! A recorded case: what a tool of the record format or a hook was given, and what it answered.
//!
//! Comes in: a JSON file of `fixtures/conformance/plugin`. Goes out: a sandbox with the case's files, the binary run in it, and the
//! streams and files with times and paths put back into placeholders. How two of them are compared is in `conformance`.

use crate::env::{HEIRLOOM, Ran};
use crate::hook_case::{self, Context};
use jiff::{Timestamp, ToSpan as _};
use regex::{Captures, Regex};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use tempfile::TempDir;

static TOKEN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{(CWD|TMP|HOME|OUTSIDE|TMPROOT|NOW[^{}]*|MD5:[^{}]+)\}").unwrap());
static NOW: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^NOW(?:([+-])((?:\d+[dhms])+))?(?:\|(.+))?$").unwrap());
static AMOUNT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\d+)([dhms])").unwrap());
static ISO: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)").unwrap());
static SET_ASIDE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(\.invalid\.)(\d{9,11})").unwrap());

/// Files by their path, `{TMP}/…` and the like for those outside the project.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A case that was read.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl Case {
    /// The folder of all cases.
    pub(crate) fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/conformance/plugin")
    }

    /// The case of that name.
    pub(crate) fn named(name: &str) -> Case {
        Case::read(&Case::folder().join(format!("{name}.json")))
    }

    /// Reads a case file.
    pub(crate) fn read(path: &Path) -> Case {
        let text = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let value: Value = serde_json::from_slice(&text).unwrap();
        Case { name: value["name"].as_str().unwrap().to_owned(), value }
    }

    /// Whether the recorded answer is one not to copy; its `why` says what to do instead.
    pub(crate) fn differs(&self) -> bool {
        self.value["advice"] == "differ"
    }

    /// Runs the case in a fresh project.
    pub(crate) fn run(&self) -> Outcome {
        let sandbox = Sandbox::new(&self.value);
        let before = sandbox.files();
        let alone = (self.value["tool"] == "triage").then(hook_case::alone);
        let start = jiff::Timestamp::now();
        let ran = sandbox.run(&self.value);
        let end = jiff::Timestamp::now();
        let contexts = alone.map(|_alone| hook_case::contexts(&ran.stderr)).unwrap_or_default();
        let after = sandbox.files();
        let mut outcome = Outcome {
            before,
            after: Files::new(),
            contexts,
            ran,
            span: (start - 3.seconds(), end + 3.seconds()),
            sandbox,
        };
        outcome.after = after.into_iter().map(|(path, bytes)| (outcome.undated(&path), bytes)).collect();
        outcome
    }
}

/// What a case did.
pub(crate) struct Outcome {
    pub(crate) before: Files,
    pub(crate) after: Files,
    /// The context files of a held-up stop, by kind.
    pub(crate) contexts: BTreeMap<String, Context>,
    ran: Ran,
    span: (Timestamp, Timestamp),
    sandbox: Sandbox,
}

impl Outcome {
    pub(crate) fn exit(&self) -> Option<i32> {
        self.ran.code
    }

    pub(crate) fn stdout(&self) -> String {
        self.normal(&self.ran.stdout)
    }

    pub(crate) fn stderr(&self) -> String {
        self.normal(&self.ran.stderr)
    }

    /// Stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout()).unwrap_or_else(|e| panic!("{e}: {}", self.stdout()))
    }

    /// A file afterwards, as JSON.
    #[track_caller]
    pub(crate) fn document(&self, path: &str) -> Value {
        serde_json::from_slice(&self.after[path]).unwrap()
    }

    /// The entry lines of the index afterwards.
    pub(crate) fn index(&self) -> Vec<String> {
        let text = self.after.get(".claude/memory/index.md").map(|bytes| String::from_utf8_lossy(bytes));
        let text = text.unwrap_or_default();
        text.lines().filter(|line| line.starts_with("- [")).map(str::to_owned).collect()
    }

    /// Checks that the call was refused with that code and left everything as it was.
    #[track_caller]
    pub(crate) fn refused(&self, code: &str) {
        assert_eq!((self.exit(), self.ran.kind()), (Some(1), code), "{}", self.stdout());
        self.left_alone();
    }

    /// Checks that everything that counts is as it was.
    #[track_caller]
    pub(crate) fn left_alone(&self) {
        let visible = |files: &Files| -> Files {
            files.iter().filter(|(path, _)| is_visible(path)).map(|(p, b)| (p.clone(), b.clone())).collect()
        };
        assert_eq!(visible(&self.before), visible(&self.after));
    }

    /// A text with the sandbox's paths and the times of this run put back into placeholders.
    pub(crate) fn normal(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let shown = |path: &Path| path.display().to_string();
        for (path, name) in [
            (&self.sandbox.cwd, "{CWD}"),
            (&self.sandbox.tmp, "{TMP}"),
            (&self.sandbox.home, "{HOME}"),
            (&self.sandbox.outside, "{OUTSIDE}"),
        ] {
            text = text.replace(&shown(path), name);
        }
        for (value, name) in self.sandbox.given.borrow().iter() {
            text = text.replace(value, name);
        }
        let during =
            |at: &str| at.parse::<Timestamp>().is_ok_and(|at| self.span.0 <= at && at <= self.span.1);
        let time =
            |found: &Captures<'_>| if during(&found[0]) { "{NOW}".into() } else { found[0].to_owned() };
        self.undated(&ISO.replace_all(&text, time))
    }

    /// A text with the time in the name of a file that this run set aside put back into its placeholder.
    fn undated(&self, text: &str) -> String {
        let (from, to) = (self.span.0.as_second(), self.span.1.as_second());
        let name = |found: &Captures<'_>| match found[2].parse() {
            Ok(at) if (from..=to).contains(&at) => format!("{}{{EPOCH}}", &found[1]),
            _ => found[0].to_owned(),
        };
        SET_ASIDE.replace_all(text, name).into_owned()
    }
}

/// Whether a file counts: what starts with a dot below the memory folder is ours to keep there. The flag of a held-up stop is an answer.
pub(crate) fn is_visible(path: &str) -> bool {
    if path == ".claude/.stop_hook_active" {
        return true;
    }
    let inner = path.strip_prefix(".claude/").unwrap_or(path);
    !path.starts_with('{') && !inner.split('/').any(|part| part.starts_with('.'))
}

/// A project with the files of a case, and what its placeholders stand for.
struct Sandbox {
    _folders: [TempDir; 2],
    cwd: PathBuf,
    tmp: PathBuf,
    home: PathBuf,
    outside: PathBuf,
    now: Timestamp,
    given: RefCell<BTreeMap<String, String>>,
}

impl Sandbox {
    fn new(case: &Value) -> Sandbox {
        let folder = |place: &str| tempfile::Builder::new().prefix("case-").tempdir_in(place).unwrap();
        let (inner, outer) = (folder("/tmp"), folder("/var/tmp"));
        let real = |dir: &TempDir| std::fs::canonicalize(dir.path()).unwrap();
        let (base, out) = (real(&inner), real(&outer));
        let now = Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap();
        let outside = case["setup"]["project"] == "outside";
        let sandbox = Sandbox {
            _folders: [inner, outer],
            cwd: if outside { &out } else { &base }.join("proj"),
            tmp: base.join("tmp"),
            home: base.join("home"),
            outside: out.join("elsewhere"),
            now,
            given: RefCell::default(),
        };
        for dir in [&sandbox.cwd, &sandbox.tmp, &sandbox.home, &sandbox.outside] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let setup = &case["setup"];
        for dir in setup["dirs"].as_array().into_iter().flatten() {
            std::fs::create_dir_all(sandbox.path(dir.as_str().unwrap())).unwrap();
        }
        for (path, content) in case["files_before"].as_object().into_iter().flatten() {
            let path = sandbox.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, sandbox.content(content)).unwrap();
        }
        for (path, to) in setup["symlinks"].as_object().into_iter().flatten() {
            let path = sandbox.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(sandbox.filled(to.as_str().unwrap()), path).unwrap();
        }
        for (path, age) in setup["mtimes"].as_object().into_iter().flatten() {
            let at = std::time::SystemTime::from(now + seconds(age.as_str().unwrap()).seconds());
            std::fs::File::open(sandbox.path(path)).unwrap().set_modified(at).unwrap();
        }
        sandbox
    }

    fn run(&self, case: &Value) -> Ran {
        let (tool, setup) = (case["tool"].as_str().unwrap(), &case["setup"]);
        let moment = hook_case::moment(tool);
        let mut command = Command::new(HEIRLOOM);
        command.args(moment.map_or(["record", tool], |moment| ["hook", moment]));
        command.args(case["args"].as_array().unwrap().iter().map(|arg| self.filled(arg.as_str().unwrap())));
        command.env_clear().env("HOME", &self.home).env("LC_ALL", "C.UTF-8").env("TZ", "UTC");
        command.env("PATH", std::env::var("PATH").unwrap_or_default());
        for (name, value) in setup["env"].as_object().into_iter().flatten() {
            command.env(name, self.filled(value.as_str().unwrap()));
        }
        command.current_dir(&self.cwd);
        if moment.is_some() {
            let payload = self.content(&case["stdin"]);
            return hook_case::finish(&mut command, &payload, setup["hold_stdin"] == true);
        }
        assert!(case["stdin"].is_null(), "the record tools read nothing from standard input");
        crate::env::finish(command.stdin(Stdio::null()))
    }

    fn files(&self) -> Files {
        let mut found = Files::new();
        for (top, label) in
            [(&self.cwd, ""), (&self.tmp, "{TMP}/"), (&self.home, "{HOME}/"), (&self.outside, "{OUTSIDE}/")]
        {
            collect(top, top, label, &mut found);
        }
        found
    }

    fn path(&self, path: &str) -> PathBuf {
        self.cwd.join(self.filled(path))
    }

    fn content(&self, content: &Value) -> Vec<u8> {
        if let Some(text) = content.as_str() {
            return self.filled(text).into_bytes();
        }
        if let Some(encoded) = content["b64"].as_str() {
            return unpack(encoded);
        }
        if let Some(parts) = content["parts"].as_array() {
            let mut text = String::new();
            for part in parts {
                let piece = self.filled(part["text"].as_str().unwrap());
                for at in 0..part["repeat"].as_u64().unwrap_or(1) {
                    text.push_str(&piece.replace("{I}", &at.to_string()));
                }
            }
            return text.into_bytes();
        }
        let mut bytes = serde_json::to_vec_pretty(&self.filled_deep(&content["json"])).unwrap();
        bytes.push(b'\n');
        bytes
    }

    fn filled_deep(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.filled(text)),
            Value::Array(items) => items.iter().map(|item| self.filled_deep(item)).collect(),
            Value::Object(map) => {
                Value::Object(map.iter().map(|(key, v)| (self.filled(key), self.filled_deep(v))).collect())
            }
            other => other.clone(),
        }
    }

    fn filled(&self, text: &str) -> String {
        TOKEN.replace_all(text, |found: &Captures<'_>| self.token(&found[0], &found[1])).into_owned()
    }

    fn token(&self, whole: &str, name: &str) -> String {
        match name {
            "CWD" => return self.cwd.display().to_string(),
            "TMP" => return self.tmp.display().to_string(),
            "HOME" => return self.home.display().to_string(),
            "OUTSIDE" => return self.outside.display().to_string(),
            "TMPROOT" => return "/tmp".to_owned(),
            _ => {}
        }
        let remember = |value: String| {
            self.given.borrow_mut().insert(value.clone(), whole.to_owned());
            value
        };
        if let Some(path) = name.strip_prefix("MD5:") {
            return remember(heirloom_core::hash::md5(&std::fs::read(self.path(path)).unwrap()));
        }
        let Some(parts) = NOW.captures(name) else { return whole.to_owned() };
        let part = |at: usize| parts.get(at).map_or("", |found| found.as_str());
        let at = self.now + seconds(&format!("{}{}", part(1), part(2))).seconds();
        let plain = |at: Timestamp| at.strftime("%Y-%m-%dT%H:%M:%S").to_string();
        match part(3) {
            "" => remember(plain(at) + "Z"),
            "naive" => remember(plain(at)),
            "date" => at.strftime("%Y-%m-%d").to_string(),
            offset => {
                let minutes: i64 =
                    offset[1..3].parse::<i64>().unwrap() * 60 + offset[4..6].parse::<i64>().unwrap();
                let shift = if offset.starts_with('-') { -minutes } else { minutes };
                remember(plain(at + shift.minutes()) + offset)
            }
        }
    }
}

fn collect(top: &Path, folder: &Path, label: &str, found: &mut Files) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = format!("{label}{}", path.strip_prefix(top).unwrap().display());
        if kind.is_dir() {
            collect(top, &path, label, found);
        } else if kind.is_symlink() {
            found.insert(
                name,
                format!("link to {}", std::fs::read_link(&path).unwrap().display()).into_bytes(),
            );
        } else {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

/// `-3d1h` in seconds.
fn seconds(text: &str) -> i64 {
    let sum: i64 = AMOUNT
        .captures_iter(text)
        .map(|found| {
            let unit = match &found[2] {
                "d" => 86_400,
                "h" => 3_600,
                "m" => 60,
                _ => 1,
            };
            found[1].parse::<i64>().unwrap() * unit
        })
        .sum();
    if text.starts_with('-') { -sum } else { sum }
}

/// Base64 without line breaks.
fn unpack(encoded: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for digit in encoded.bytes().filter(|b| *b != b'=') {
        let value = DIGITS.iter().position(|d| *d == digit).unwrap();
        bits = (bits << 6) | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
