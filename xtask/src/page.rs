//! `page`: pictures of the page from demo data, and how quick it is over many memories.
//!
//! Comes in: a built program and Chromium. Goes out: `docs/images/*.png`, or times in the browser and the processor time of the page's own process,
//! which does not depend on who else uses the machine. Both use the page as a person does: a terminal opens it, a browser enters by the link. Never
//! here: a time that is asserted.

use crate::browser::Browser;
use crate::stress::tiers::{engine_at, fill, sentence, told};
use crate::{Outcome, report, run, workspace};
use heirloom_engine::shelf::tiers::{SqliteStore, TierStore};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const USAGE: &str =
    "usage: page pictures | page large [--records N] [--turns N] [--program FILE] [--at FOLDER] [--debug]";

pub(crate) fn run(words: &[String]) -> Outcome {
    match words.first().map(String::as_str) {
        Some("pictures") => pictures(),
        Some("large") => large(&words[1..]),
        _ => Err(USAGE.to_owned()),
    }
}

/// A project, a home and the program.
struct Place {
    folder: PathBuf,
    /// Goes with the place, unless somebody named the folder.
    _own: Option<tempfile::TempDir>,
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
    fn new(name: &str, program: PathBuf, at: Option<PathBuf>) -> Result<Place, String> {
        let own = match at {
            Some(_) => None,
            None => Some(tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?),
        };
        let folder = at.or(own.as_ref().map(|own| own.path().to_owned())).unwrap_or_default();
        for part in [name, "home"] {
            std::fs::create_dir_all(folder.join(part)).map_err(|e| e.to_string())?;
        }
        Ok(Place { folder, _own: own, program, name: name.to_owned() })
    }

    fn project(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let home = self.folder.join("home");
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

fn built(release: bool) -> Result<PathBuf, String> {
    workspace::built(&mut workspace::build(if release { &["--release"] } else { &[] }))
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
    let place = Place::new("shop", built(false)?, None)?;
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

/// Records and turns, then the page over all of them. A folder that somebody named is filled once and used again.
fn large(words: &[String]) -> Outcome {
    let (mut records, mut turns) = (20_000, 80_000);
    let (mut program, mut at) = (None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(USAGE);
        match word.as_str() {
            "--records" => records = next()?.parse().map_err(|_| USAGE)?,
            "--turns" => turns = next()?.parse().map_err(|_| USAGE)?,
            "--program" => program = Some(PathBuf::from(next()?)),
            "--at" => at = Some(PathBuf::from(next()?)),
            "--debug" => {}
            _ => return Err(USAGE.to_owned()),
        }
    }
    let program = match program {
        Some(program) => program,
        None => built(!cfg!(debug_assertions))?,
    };
    let place = Place::new("large", program, at)?;
    let filled = place.folder.join("filled");
    if !filled.exists() {
        fill_all(&place, records, turns)?;
        std::fs::write(&filled, "").map_err(|e| e.to_string())?;
    }
    let began = Instant::now();
    let opened = place.open()?;
    let mut browser = Browser::start();
    browser.looks(1280, 800, false);
    browser.enter(&opened.link);
    report::line(&format!(
        "first look, index built where it was not: {:.1} s, {:.1} s of the processor",
        began.elapsed().as_secs_f64(),
        processor(opened.child.id())
    ));
    counted(&place, &mut browser)?;
    times(&mut browser, &opened);
    Ok(())
}

fn fill_all(place: &Place, records: usize, turns: usize) -> Outcome {
    place.agent(&["init"], "")?;
    write_records(&place.project(), records)?;
    let data = place.folder.join("home/data/heirloom");
    let store: Arc<dyn TierStore> = Arc::new(SqliteStore::at(&data.join("tiers")));
    // As the account that opens the page.
    let user = run::output(Command::new("id").arg("-un"))?.trim().to_owned();
    let beside = place.folder.join("filling");
    std::fs::create_dir_all(&beside).map_err(|e| e.to_string())?;
    std::os::unix::fs::symlink(&data, beside.join("data")).map_err(|e| e.to_string())?;
    // Turns that were over would be ranked and left out again, one by one.
    let now = run::output(Command::new("date").args(["-u", "+%FT%TZ"]))?;
    let call = engine_at(&store, &beside, &user, &now)?;
    fill(&call.tiers().map_err(told)?, turns).map(drop)
}

/// The counts on the page against those of `status`.
fn counted(place: &Place, browser: &mut Browser) -> Outcome {
    let said = run::output(&mut place.command(&["status", "--json"]))?;
    let state: Value = serde_json::from_str(&said).map_err(|e| e.to_string())?;
    let mut told = Vec::new();
    for shelf in state["shelves"].as_array().into_iter().flatten() {
        let row = format!(
            "[...document.querySelectorAll('.counts tbody tr')].find(row => row.cells[0].textContent === {})",
            shelf["shelf"]
        );
        let shown = browser.eval(&format!("Number({row}.cells[1].textContent)"));
        if shown.as_f64() != shelf["active"].as_f64() {
            return Err(format!("the page counts {shown}, status says {shelf}"));
        }
        told.push(format!("{} {}", shelf["shelf"].as_str().unwrap_or_default(), shelf["active"]));
    }
    report::line(&format!("the page counts what status counts: {}", told.join(", ")));
    Ok(())
}

/// Seconds of the processor that a process has used.
fn processor(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect::<Vec<_>>());
    let number = |at: usize| fields.as_ref()?.get(at)?.parse::<f64>().ok();
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    (number(11).unwrap_or_default() + number(12).unwrap_or_default()) / ticks
}

fn times(browser: &mut Browser, opened: &Opened) {
    let origin = &opened.origin;
    let id = opened.child.id();
    let mut paints = Vec::new();
    let before = processor(id);
    for _ in 0..20 {
        browser.go(&format!("{origin}/"));
        browser.until("performance.getEntriesByName('first-contentful-paint').length === 1");
        let paint = browser.eval("performance.getEntriesByName('first-contentful-paint')[0].startTime");
        paints.push(paint.as_f64().unwrap_or_default());
    }
    told_times("home, first paint after navigating", &mut paints, processor(id) - before);
    // From the key to the new hits on the screen, as the page itself sees it.
    const TYPES: &str = "(async () => { const q = document.getElementById('q'); const out = []; \
        for (const words of WORDS) { for (let n = 3; n <= Math.min(words.length, 12); n++) { \
            const began = performance.now(); q.value = words.slice(0, n); \
            const seen = new Promise(done => new MutationObserver((_, me) => { me.disconnect(); requestAnimationFrame(() => done()); }).observe(document.getElementById('main'), { childList: true })); \
            q.dispatchEvent(new Event('input', { bubbles: true })); await seen; out.push(performance.now() - began); } } return out; })()";
    let words: Vec<String> =
        (0..25).map(|n| sentence(n * 37).split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    let before = processor(id);
    let seen = browser.eval(&TYPES.replace("WORDS", &json!(words).to_string()));
    let mut seen: Vec<f64> = seen.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    told_times("search, from the key to the hits", &mut seen, processor(id) - before);
    // Every screen, as the script asks for it.
    for path in ["/", "/search", "/review", "/sessions", "/audit", "/changes", "/doctor"] {
        let mut all = Vec::new();
        let before = processor(id);
        for _ in 0..if path == "/" { 40 } else { 5 } {
            let took = browser.eval(&format!("(async () => {{ const began = performance.now(); await (await fetch('{path}', {{ headers: {{ 'x-part': '1' }} }})).text(); return performance.now() - began; }})()"));
            all.push(took.as_f64().unwrap_or_default());
        }
        told_times(&format!("{path}, from the key to its answer"), &mut all, processor(id) - before);
    }
}

fn told_times(what: &str, times: &mut [f64], processor: f64) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        times
            .get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    };
    report::line(&format!(
        "{what}: p50 {:.0} ms, p95 {:.0} ms, {} times; {:.0} ms of the processor each",
        at(0.5),
        at(0.95),
        times.len(),
        processor * 1000.0 / times.len().max(1) as f64
    ));
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
