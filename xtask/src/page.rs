//! `page`: pictures of the page from demo data, and how quick it is over many memories.
//!
//! Comes in: a built program and Chromium. Goes out: `docs/images/*.png`, or times in the browser. Both use the page as a person does: a terminal
//! opens it, a browser enters by the link. Never here: a time that is asserted.

use crate::browser::Browser;
use crate::stress::tiers::{engine, fill, sentence, told};
use crate::{Outcome, report, run, workspace};
use heirloom_engine::shelf::tiers::{SqliteStore, TierStore};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: page pictures | page large [--records N] [--turns N] [--debug]";

pub(crate) fn run(words: &[String]) -> Outcome {
    match words.first().map(String::as_str) {
        Some("pictures") => pictures(),
        Some("large") => large(&words[1..]),
        _ => Err(USAGE.to_owned()),
    }
}

/// A project, a home and the program.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
    name: String,
}

/// A page that is open.
struct Opened {
    child: Child,
    link: String,
    origin: String,
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Place {
    fn new(name: &str, release: bool) -> Result<Place, String> {
        let program = workspace::built(&mut workspace::build(if release { &["--release"] } else { &[] }))?;
        let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
        for part in [name, "home"] {
            std::fs::create_dir(folder.path().join(part)).map_err(|e| e.to_string())?;
        }
        Ok(Place { folder, program, name: name.to_owned() })
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let home = self.folder.path().join("home");
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("NO_COLOR", "1");
        command
            .env("HOME", &home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CONFIG_HOME", home.join("config"));
        command
    }

    /// As an agent's process.
    fn agent(&self, args: &[&str], input: &str) -> Outcome {
        let mut command = self.command(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait().map(drop).map_err(|e| e.to_string())
    }

    /// As a person at a terminal.
    fn person(&self, args: &[&str]) -> Result<Child, String> {
        use rustix::fs::{Mode, OFlags, open};
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let no = |e: rustix::io::Errno| format!("no terminal: {e}");
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).map_err(no)?;
        grantpt(&master).and_then(|()| unlockpt(&master)).map_err(no)?;
        let name = ptsname(&master, Vec::new()).map_err(no)?;
        let slave =
            open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).map_err(no)?;
        let other = slave.try_clone().map_err(|e| e.to_string())?;
        let child = self
            .command(args)
            .stdin(slave)
            .stderr(other)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        std::thread::spawn(move || {
            let _ = std::fs::File::from(master).read_to_end(&mut Vec::new());
        });
        Ok(child)
    }

    fn open(&self) -> Result<Opened, String> {
        let mut child = self.person(&["open", "--print"])?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("the page says nothing")?).lines();
        let link = lines.next().and_then(Result::ok).ok_or("the page ended")?;
        let origin = link.split('/').take(3).collect::<Vec<_>>().join("/");
        Ok(Opened { child, link, origin })
    }

    fn said(&self, args: &[&str]) -> Outcome {
        let ended = self.person(args)?.wait_with_output().map_err(|e| e.to_string())?;
        if ended.status.success() {
            Ok(())
        } else {
            Err(format!("heirloom {args:?} ended with {}", ended.status))
        }
    }
}

/// What the shop of the pictures remembers: by its people, then by its agents.
const BY_PEOPLE: &[&[&str]] = &[
    &[
        "add",
        "decision",
        "Use PostgreSQL for orders because we need jsonb and row locks",
        "--tag",
        "database",
        "--tag",
        "orders",
    ],
    &[
        "add",
        "decision",
        "Send mail through a queue because the provider is slow at noon",
        "--tag",
        "mail",
        "--tag",
        "queue",
    ],
    &["add", "decision", "Keep carts in Redis for a day because losing one is cheap", "--tag", "cart"],
    &[
        "add",
        "decision",
        "Render invoices as PDF on the server because browsers print them differently",
        "--tag",
        "invoices",
    ],
    &[
        "add",
        "constraint",
        "The payment API allows 100 requests per minute because of our contract",
        "--tag",
        "payment",
        "--tag",
        "api",
    ],
    &["add", "constraint", "Customer data stays in the EU because of the law", "--tag", "privacy"],
    &["add", "preference", "Prefer plain SQL over an ORM because we can read it", "--tag", "database"],
    &["add", "tech_debt", "Replace the hand-written CSV parser because quoting is broken", "--tag", "csv"],
    &[
        "add",
        "lesson",
        "A rebase lost three commits, fixed by git reflog and a cherry-pick",
        "--topic",
        "git/rebase",
    ],
    &[
        "add",
        "lesson",
        "The queue worker leaked connections, fixed by restarting it every night",
        "--topic",
        "queue/worker",
    ],
    &["remember", "I prefer small pull requests"],
    &["remember", "I work from Lisbon"],
];
const BY_AGENTS: &[&[&str]] = &[
    &["add", "constraint", "Never deploy on Fridays because nobody is there at night"],
    &["add", "preference", "Write the test before the fix because it shows what was wrong"],
    &["add", "canon", "Deploys happen on Tuesdays only"],
    &["add", "canon", "Answer in the language of the question"],
];
const PROMPTS: &[(&str, &str)] = &[
    ("monday", "which database do we use for orders, and why?"),
    ("monday", "the payment api returns 429, how do we queue the orders?"),
    ("tuesday", "how do we send mail from the checkout?"),
    ("tuesday", "a rebase lost my commits again, what helped last time?"),
    ("wednesday", "where do we keep the cart of a visitor?"),
];
/// Name, path.
const PICTURES: [(&str, &str); 6] = [
    ("home", "/"),
    ("search", "/search?q=orders%20queue"),
    ("memory", "/memory?id=decision:use-postgresql-for-orders"),
    ("review", "/review"),
    (
        "playground",
        "/playground?prompt=the+payment+api+returns+429%2C+how+do+we+queue+the+orders%3F&inject=1",
    ),
    ("sessions", "/sessions"),
];

fn pictures() -> Outcome {
    let place = Place::new("shop", false)?;
    place.agent(&["init"], "")?;
    BY_PEOPLE.iter().try_for_each(|args| place.said(args))?;
    BY_AGENTS.iter().try_for_each(|args| place.agent(args, ""))?;
    place.said(&[
        "edit",
        "decision:use-postgresql-for-orders",
        "--field",
        "context=orders arrive from three shops",
        "--message",
        "Say where orders come from",
    ])?;
    for (session, prompt) in PROMPTS {
        let event = json!({ "hook_event_name": "UserPromptSubmit", "cwd": place.project(), "session_id": session, "prompt": prompt });
        place.agent(&["hook", "prompt", "--agent", "claude-code"], &event.to_string())?;
    }
    let opened = place.open()?;
    let mut browser = Browser::start();
    browser.looks(1120, 700, false);
    browser.enter(&opened.link);
    let folder = run::root().join("docs/images");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for (name, path) in PICTURES {
        browser.go(&format!("{}{path}", opened.origin));
        browser.until("document.body.dataset.live === 'on' && !document.querySelector('[data-load]')");
        std::thread::sleep(Duration::from_millis(300));
        let taken = browser.picture(&format!("docs-{name}"));
        std::fs::copy(&taken, folder.join(format!("{name}.png"))).map_err(|e| e.to_string())?;
        report::line(&format!("docs/images/{name}.png"));
    }
    Ok(())
}

/// Records and turns, then the page over all of them.
fn large(words: &[String]) -> Outcome {
    let (mut records, mut turns) = (20_000, 80_000);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|n| n.parse::<usize>().ok()).ok_or(USAGE);
        match word.as_str() {
            "--records" => records = number()?,
            "--turns" => turns = number()?,
            "--debug" => {}
            _ => return Err(USAGE.to_owned()),
        }
    }
    let place = Place::new("large", !cfg!(debug_assertions))?;
    place.agent(&["init"], "")?;
    write_records(&place.project(), records)?;
    let data = place.folder.path().join("home/data/heirloom");
    let store: Arc<dyn TierStore> = Arc::new(SqliteStore::at(&data.join("tiers")));
    // As the account that opens the page.
    let user = run::output(Command::new("id").arg("-un"))?.trim().to_owned();
    let beside = place.folder.path().join("filling");
    std::fs::create_dir_all(&beside).map_err(|e| e.to_string())?;
    std::os::unix::fs::symlink(&data, beside.join("data")).map_err(|e| e.to_string())?;
    let call = engine(&store, &beside, &user)?;
    fill(&call.tiers().map_err(told)?, turns)?;
    drop(call);
    let began = Instant::now();
    let opened = place.open()?;
    let mut browser = Browser::start();
    browser.looks(1280, 800, false);
    browser.enter(&opened.link);
    report::line(&format!(
        "{records} records, {turns} turns; first look, index built: {:.1} s",
        began.elapsed().as_secs_f64()
    ));
    times(&mut browser, &opened.origin);
    Ok(())
}

fn times(browser: &mut Browser, origin: &str) {
    let mut paints = Vec::new();
    for _ in 0..20 {
        browser.go(&format!("{origin}/"));
        browser.until("performance.getEntriesByName('first-contentful-paint').length === 1");
        let paint = browser.eval("performance.getEntriesByName('first-contentful-paint')[0].startTime");
        paints.push(paint.as_f64().unwrap_or_default());
    }
    told_times("home, first paint after navigating", &mut paints);
    // From the key to the new hits on the screen, as the page itself sees it.
    const TYPES: &str = "(async () => { const q = document.getElementById('q'); const out = []; \
        for (const words of WORDS) { for (let n = 3; n <= Math.min(words.length, 12); n++) { \
            const began = performance.now(); q.value = words.slice(0, n); \
            const seen = new Promise(done => new MutationObserver((_, me) => { me.disconnect(); requestAnimationFrame(() => done()); }).observe(document.getElementById('main'), { childList: true })); \
            q.dispatchEvent(new Event('input', { bubbles: true })); await seen; out.push(performance.now() - began); } } return out; })()";
    let words: Vec<String> =
        (0..25).map(|n| sentence(n * 37).split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    let seen = browser.eval(&TYPES.replace("WORDS", &json!(words).to_string()));
    let mut seen: Vec<f64> = seen.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    told_times("search, from the key to the hits", &mut seen);
    let mut homes = Vec::new();
    for _ in 0..40 {
        let took = browser.eval("(async () => { const began = performance.now(); await (await fetch('/', { headers: { 'x-part': '1' } })).text(); return performance.now() - began; })()");
        homes.push(took.as_f64().unwrap_or_default());
    }
    told_times("home, from the key to its answer", &mut homes);
}

fn told_times(what: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        times
            .get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    };
    report::line(&format!("{what}: p50 {:.0} ms, p95 {:.0} ms, {} times", at(0.5), at(0.95), times.len()));
}

fn write_records(project: &Path, count: usize) -> Outcome {
    let folder = project.join(".claude/memory/decisions");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for n in 0..count {
        let text = sentence(n);
        let record = json!({
            "schema_version": "1.0", "category": "decision", "id": format!("d{n}"), "title": text.split(' ').take(6).collect::<Vec<_>>().join(" "), "record_status": "active",
            "created_at": "2026-01-10T09:00:00Z", "updated_at": "2026-01-10T09:00:00Z", "tags": [text.split(' ').next().unwrap_or_default()],
            "related_files": [], "confidence": 0.9, "changes": [],
            "content": { "status": "accepted", "context": text, "decision": text, "rationale": [text], "alternatives": [], "consequences": [] }
        });
        std::fs::write(folder.join(format!("d{n}.json")), record.to_string()).map_err(|e| e.to_string())?;
    }
    Ok(())
}
