//! A real Chromium without a window, driven over its debugging pipe with nothing but the standard library.
//!
//! Comes in: what a person does: addresses, keys, the size of the window. Goes out: what the page became, what it asked the network for, what it
//! complained of. The browser has a fresh profile and may ask nobody but this machine.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where pictures and axe-core are kept.
const KEPT: &str = match option_env!("CARGO_TARGET_TMPDIR") {
    Some(folder) => folder,
    None => "target/tmp",
};
/// How long a page may take to become what is expected; far more than it needs, since other tests run beside.
const PATIENCE: Duration = Duration::from_secs(90);

fn kept() -> PathBuf {
    Path::new(KEPT).join("page")
}

pub(crate) struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    last: u64,
    session: String,
    events: Vec<Value>,
    _folder: TempDir,
}

impl Browser {
    /// A browser with an empty profile.
    pub(crate) fn start() -> Browser {
        let folder = tempfile::Builder::new().prefix("heirloom-browser-").tempdir_in("/tmp").unwrap();
        let (into, out) = (folder.path().join("in"), folder.path().join("out"));
        assert!(Command::new("mkfifo").args([&into, &out]).status().unwrap().success());
        // The shell ties the pipe to the numbers that the browser expects.
        let line = format!(
            "exec chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
             --disable-component-update --disable-sync --disable-default-apps --disable-extensions --no-proxy-server \
             --disable-dev-shm-usage --hide-scrollbars --force-color-profile=srgb --user-data-dir='{0}/profile' --remote-debugging-pipe 3<'{0}/in' 4>'{0}/out'",
            folder.path().display()
        );
        let child = Command::new("sh")
            .args(["-c", &line])
            .env("HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("`cargo xtask test` installs chromium");
        let to = File::options().write(true).open(&into).unwrap();
        let from = BufReader::new(File::open(&out).unwrap());
        let mut browser =
            Browser { child, to, from, last: 0, session: String::new(), events: Vec::new(), _folder: folder };
        browser.fresh();
        browser
    }

    /// Another tab with cookies of its own; the one before is left.
    pub(crate) fn fresh(&mut self) {
        self.session.clear();
        let context = self.call("Target.createBrowserContext", &json!({}))["browserContextId"].clone();
        let target =
            self.call("Target.createTarget", &json!({ "url": "about:blank", "browserContextId": context }));
        let attached =
            self.call("Target.attachToTarget", &json!({ "targetId": target["targetId"], "flatten": true }));
        self.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.events.clear();
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert!(bytes.pop().is_some(), "the browser is gone");
        serde_json::from_slice(&bytes).unwrap()
    }

    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.try_call(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn try_call(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let answer = self.read();
            if answer["id"] == json!(id) {
                return answer;
            }
            if answer["method"] == "Page.javascriptDialogOpening" {
                // A dialog would hold everything up; that it came is noted.
                self.last += 1;
                let close = json!({ "id": self.last, "sessionId": self.session, "method": "Page.handleJavaScriptDialog", "params": { "accept": false } });
                let mut bytes = serde_json::to_vec(&close).unwrap();
                bytes.push(0);
                self.to.write_all(&bytes).unwrap();
            }
            self.events.push(answer);
        }
    }

    /// What an expression is in the page.
    #[track_caller]
    pub(crate) fn eval(&mut self, script: &str) -> Value {
        let asked = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &asked);
        assert!(answer.get("exceptionDetails").is_none(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn until(&mut self, script: &str) {
        let began = Instant::now();
        let asked = json!({ "expression": format!("Boolean({script})"), "returnByValue": true });
        // While a page goes away there is nobody to ask.
        while self.try_call("Runtime.evaluate", &asked)["result"]["result"]["value"] != json!(true) {
            if began.elapsed() > PATIENCE {
                let seen = self.eval("document.body ? location.href + '\\n' + document.body.innerText : ''");
                panic!("never true: {script}\n{}", seen.as_str().unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(15));
        }
    }

    /// Waits until the page shows a text.
    #[track_caller]
    pub(crate) fn shows(&mut self, text: &str) {
        self.until(&format!("document.body && document.body.innerText.includes({})", json!(text)));
    }

    /// Goes to an address and waits for it.
    #[track_caller]
    pub(crate) fn go(&mut self, url: &str) {
        let went = self.call("Page.navigate", &json!({ "url": url }));
        assert!(went.get("errorText").is_none(), "{url}: {went}");
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// Opens the page by its link.
    #[track_caller]
    pub(crate) fn enter(&mut self, link: &str) {
        self.go(link);
        self.until("location.pathname === '/' && document.body.dataset.live === 'on'");
    }

    /// Types: letters as they are, `<Enter>`, `<Tab>`, `<Escape>`, `<Space>` by their names.
    #[track_caller]
    pub(crate) fn keys(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            // A key goes to the screen that is there. While the page's script is not, or another screen is on its way, nobody can know which one that is.
            self.until("document.readyState === 'complete' && !document.querySelector('main[aria-busy]')");
            let named = rest.strip_prefix('<').and_then(|after| after.split_once('>'));
            let (key, typed) = match named {
                Some((name, after)) => {
                    rest = after;
                    match name {
                        "Enter" => ("Enter".to_owned(), "\r".to_owned()),
                        "Space" => (" ".to_owned(), " ".to_owned()),
                        other => (other.to_owned(), String::new()),
                    }
                }
                None => {
                    rest = &rest[first.len_utf8()..];
                    (first.to_string(), first.to_string())
                }
            };
            let number = match key.as_str() {
                "Enter" => 13,
                "Tab" => 9,
                "Escape" => 27,
                " " => 32,
                "End" => 35,
                "Home" => 36,
                "ArrowUp" => 38,
                "ArrowDown" => 40,
                "Backspace" => 8,
                _ => 0,
            };
            let mut down = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": number });
            if !typed.is_empty() {
                down["text"] = json!(typed);
            }
            self.call("Input.dispatchKeyEvent", &down);
            self.call(
                "Input.dispatchKeyEvent",
                &json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": number }),
            );
        }
    }

    /// Presses a key while an expression is not true yet, as somebody who goes through a page with Tab.
    #[track_caller]
    pub(crate) fn keys_until(&mut self, key: &str, script: &str) {
        for _ in 0..200 {
            if self.eval(&format!("Boolean({script})")) == json!(true) {
                return;
            }
            self.keys(key);
        }
        panic!("{key} never leads to {script}");
    }

    /// The size of the window and the light.
    pub(crate) fn looks(&mut self, width: u32, height: u32, dark: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let value = if dark { "dark" } else { "light" };
        let light = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.call("Emulation.setEmulatedMedia", &light);
    }

    /// Keeps a picture of the window.
    pub(crate) fn picture(&mut self, name: &str) -> PathBuf {
        let taken = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let path = kept().join(format!("{name}.png"));
        std::fs::create_dir_all(kept()).unwrap();
        std::fs::write(&path, base64(taken["data"].as_str().unwrap())).unwrap();
        path
    }

    /// What axe-core objects to, with where.
    #[track_caller]
    pub(crate) fn violations(&mut self) -> Vec<String> {
        let script = std::fs::read_to_string(axe()).unwrap();
        self.eval(&format!("{script}; true"));
        let found = self.eval(
            "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }) \
             .then(found => found.violations.map(one => one.id + ': ' + one.nodes.map(node => node.target + ' ' + node.failureSummary).join(' | ')))",
        );
        found.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    }

    /// Everything that came, and forgets it.
    pub(crate) fn events(&mut self) -> Vec<Value> {
        // Whatever was on its way is here after one more answer.
        self.eval("1");
        std::mem::take(&mut self.events)
    }

    /// What went wrong in the page: errors, violations of its policy, dialogs.
    pub(crate) fn complaints(events: &[Value]) -> Vec<String> {
        const BAD: [&str; 3] = ["Log.entryAdded", "Runtime.exceptionThrown", "Page.javascriptDialogOpening"];
        let bad = events
            .iter()
            .filter(|event| event["method"].as_str().is_some_and(|method| BAD.contains(&method)));
        bad.map(|event| event["params"].to_string()).collect()
    }

    /// Whom the page asked.
    pub(crate) fn origins(events: &[Value]) -> BTreeSet<String> {
        let asked = events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        asked
            .filter_map(|event| event["params"]["request"]["url"].as_str())
            .map(|url| url.split('/').take(3).collect::<Vec<_>>().join("/"))
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// axe-core, fetched once. It is used by these tests and is no part of the program.
fn axe() -> &'static Path {
    static FETCHED: OnceLock<PathBuf> = OnceLock::new();
    FETCHED.get_or_init(|| {
        const PACKAGE: &str = "axe-core@4.14.0";
        let folder = kept().join("axe");
        let script = folder.join("package/axe.min.js");
        if !script.exists() {
            std::fs::create_dir_all(&folder).unwrap();
            let packed = Command::new("npm")
                .args(["pack", "--silent", PACKAGE])
                .current_dir(&folder)
                .output()
                .expect("`cargo xtask test` installs npm");
            assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
            let archive = String::from_utf8(packed.stdout).unwrap();
            let unpacked =
                Command::new("tar").args(["xzf", archive.trim()]).current_dir(&folder).status().unwrap();
            assert!(unpacked.success());
        }
        script
    })
}

fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four
            .iter()
            .enumerate()
            .fold(0u32, |bits, (at, byte)| bits | u32::from(value(*byte)) << (18 - 6 * at));
        bytes.extend(&bits.to_be_bytes()[1..four.len()]);
    }
    bytes
}
