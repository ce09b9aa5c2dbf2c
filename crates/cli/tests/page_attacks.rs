//! Attacks on the page: stored texts that want to run, pages that frame or forge, names bound to this machine, other accounts.

use crate::browser::Browser;
use crate::env::{HEIRLOOM, TestEnv};
use crate::page::{Opened, seeded};
use heirloom_core::kind::{RECORD_KINDS, Shape};
use serde_json::{Map, Value, json};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::time::Duration;

const PAYLOADS: &str = include_str!("../../../fixtures/page/payloads.txt");

fn payloads() -> Vec<String> {
    let read = |line: &str| {
        line.replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace("\\r", "\r")
            .replace("\\f", "\u{c}")
            .replace("\\1", "\u{1}")
            .replace("\\\\", "\\")
    };
    PAYLOADS.lines().map(read).collect()
}

/// The page's policy, as the issue of trust in browsers wants it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What no stored text may have brought into a page.
const FOREIGN: &str = "(() => { \
    const bad = [...document.querySelectorAll('script, iframe, frame, object, embed, img, video, audio, source, track, base, style, portal, picture, template, marquee, math, foreignObject, image, use, animate, set')] \
        .filter(one => !(one.tagName === 'SCRIPT' && one.getAttribute('src') === '/app.js')); \
    const attributes = [...document.querySelectorAll('*')].flatMap(one => [...one.attributes].map(attribute => [one, attribute])); \
    const handlers = attributes.filter(([, one]) => one.name.startsWith('on') || one.name === 'style' || one.name === 'srcdoc' || one.name === 'ping' || one.name === 'formaction'); \
    const ways = attributes.filter(([tag, one]) => ['href', 'src', 'action', 'data', 'data-load'].includes(one.name) && !/^\\/(?!\\/)|^#/.test(one.value)); \
    const meta = [...document.querySelectorAll('meta[http-equiv]')]; \
    return [...bad, ...meta].map(one => one.outerHTML.slice(0, 120)) \
        .concat(handlers.concat(ways).map(([tag, one]) => tag.tagName + ' ' + one.name + '=' + one.value.slice(0, 80))); })()";

/// Stores every payload in every field of every kind, past the gate where it would not have it: files win.
fn poisoned() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let all = payloads();
    let whole = all.join("\n");
    let list: Vec<Value> = all.iter().map(|one| json!(one)).collect();
    for kind in &RECORD_KINDS {
        let mut content = Map::new();
        for field in kind.fields {
            let value = match field.shape {
                Shape::List { .. } => json!(list),
                Shape::Alternatives => json!([{ "option": whole, "rejected_reason": whole }]),
                Shape::Examples => json!({ "prefer": list, "avoid": list }),
                Shape::Text | Shape::Choice(_) | Shape::Flag => json!(whole),
            };
            content.insert(field.name.to_owned(), value);
        }
        content.insert(all[0].clone(), json!(whole));
        for (at, some) in all.chunks(20).enumerate() {
            let change = json!({ "date": all[at], "summary": whole, "field": whole, "old_value": whole, "new_value": whole });
            // One record of a kind holds everything in every field; the others bring every payload into a title.
            let (list, content, change) = match at {
                0 => (json!(list), json!(content), json!([change])),
                _ => (json!([]), json!({}), json!([])),
            };
            let document = json!({
                "category": kind.name, "title": some.join(" "), "id": format!("p{at}"), "record_status": "active",
                "created_at": "2026-01-10T09:00:00Z", "updated_at": all[at], "confidence": 0.9,
                "tags": list, "related_files": list, "content": content, "changes": change
            });
            env.write(env.memory(&format!("{}/p{at}.json", kind.folder)), document.to_string());
        }
    }
    let lesson: String = all.iter().map(|one| format!("{one}\n")).collect();
    env.write(
        env.memory("topics/hostile/texts.md"),
        format!(
            "# Texts\n\n## [2026-01-10] {}\n\n**Problem**: {lesson}\n\n**Solution**: {lesson}\n\n---\n",
            all[0]
        ),
    );
    for (at, some) in all.chunks(40).enumerate() {
        let text = some.join("\n");
        // Through the gate as a person; an agent's draft waits, and is shown in review.
        // A register that says what canon says is turned down as a duplicate; both are one shelf.
        match at % 2 {
            0 => env.at_terminal(&["add", "canon", &text], ""),
            _ => env.at_terminal(&["add", "register", &text, "--topic", &format!("t{at}")], ""),
        };
        env.at_terminal(&["remember", &text], "y\ny\n");
        env.at_terminal(&["add", "note", &text], "");
        env.run(&["add", "canon", &text]);
    }
    env
}

#[test]
fn attack_17_a_stored_text_never_runs_in_the_page() {
    assert!(payloads().len() >= 200);
    let env = poisoned();
    let opened = Opened::of(&env);
    let mut browser = Browser::start();
    browser.enter(&opened.link);
    browser.call(
        "Page.addScriptToEvaluateOnNewDocument",
        &json!({ "source": "window.ran = []; window.P = () => window.ran.push(1);" }),
    );
    let listed = env.run(&["list", "--json"]).ok().items();
    let mut kinds = std::collections::BTreeMap::new();
    for memory in listed.as_array().unwrap() {
        kinds
            .entry(memory["kind"].as_str().unwrap().to_owned())
            .or_insert_with(Vec::new)
            .push(memory["id"].as_str().unwrap().to_owned());
    }
    for kind in ["decision", "runbook", "constraint", "tech_debt", "preference", "session_summary", "lesson"]
    {
        assert!(kinds.contains_key(kind), "{kind} is not there: {:?}", kinds.keys());
    }
    let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let mut paths: Vec<String> = [
        "/",
        "/search",
        "/review",
        "/changes",
        "/sessions",
        "/audit",
        "/settings",
        "/users",
        "/playground?prompt=script+alert+onerror",
    ]
    .map(str::to_owned)
    .to_vec();
    for ids in kinds.values() {
        for id in ids.iter().take(1) {
            paths.extend(["memory", "history"].map(|screen| format!("/{screen}?id={}", encoded(id))));
        }
        paths.push(format!("/edit?id={}", encoded(&ids[0])));
        paths.push(format!("/edit?id={}&whole=1", encoded(&ids[0])));
    }
    // What is typed comes back on the page too.
    for some in payloads().chunks(12) {
        paths.push(format!("/search?q={}", encoded(&some.join(" "))));
    }
    for name in ["id", "verdict", "chain"] {
        paths.push(format!("/audit?{name}={}", encoded(&payloads().join(" "))));
    }
    for path in &paths {
        browser.go(&format!("{}{path}", opened.origin));
        browser.until("document.body.dataset.live === 'on' && !document.querySelector('[data-load]')");
        let foreign = browser.eval(FOREIGN);
        assert_eq!(foreign, json!([]), "{path}");
        assert_eq!(browser.eval("(window.ran || []).length"), json!(0), "{path}");
    }
    let events = browser.events();
    let complaints: Vec<String> = Browser::complaints(&events)
        .into_iter()
        .filter(|text| !text.contains("the server responded with a status of 4"))
        .collect();
    assert!(complaints.is_empty(), "{:?}", complaints.iter().take(3).collect::<Vec<_>>());
    assert_eq!(
        Browser::origins(&events).into_iter().collect::<Vec<_>>(),
        std::slice::from_ref(&opened.origin),
        "no request leaves the page"
    );
}

/// One request, as any program on this machine can send it.
fn raw(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> u16 {
    answer.split_whitespace().nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{answer}"))
}

/// Uses the link as a browser would; the cookie.
fn entered(opened: &Opened) -> String {
    let path = opened.link.strip_prefix(&opened.origin).unwrap();
    let answer = raw(opened.port(), "GET", path, &[("Host", opened.host())], "");
    assert_eq!(status(&answer), 200, "{answer}");
    let line = answer.lines().find(|line| line.to_lowercase().starts_with("set-cookie:")).unwrap();
    assert!(
        line.contains("HttpOnly")
            && line.contains("SameSite=Strict")
            && !line.to_lowercase().contains("domain"),
        "{line}"
    );
    line.split_once(':').unwrap().1.split(';').next().unwrap().trim().to_owned()
}

/// The token of the page's forms.
fn form_token(opened: &Opened, cookie: &str) -> String {
    let page = raw(opened.port(), "GET", "/review", &[("Host", opened.host()), ("Cookie", cookie)], "");
    let (_, after) = page.split_once("name=\"token\" value=\"").unwrap_or_else(|| panic!("{page}"));
    after.split('"').next().unwrap().to_owned()
}

#[test]
fn attack_18_the_page_cannot_be_framed_and_says_so_on_every_answer() {
    let env = seeded();
    let opened = Opened::of(&env);
    let cookie = entered(&opened);
    for path in ["/", "/search", "/app.js", "/nowhere", "/enter/x"] {
        let answer = raw(opened.port(), "GET", path, &[("Host", opened.host()), ("Cookie", &cookie)], "");
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        assert!(
            head.contains(&format!("content-security-policy: {POLICY}").to_lowercase()),
            "{path}: {head}"
        );
        for line in [
            "x-frame-options: deny",
            "x-content-type-options: nosniff",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(line), "{path}: {head}");
        }
    }
    // A page of somebody else's puts it into a frame.
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = stranger.local_addr().unwrap();
    let target = opened.origin.clone();
    std::thread::spawn(move || {
        for stream in stranger.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
            let body = format!("<iframe src=\"{target}/\" onload=\"document.title='loaded'\"></iframe>");
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let mut browser = Browser::start();
    browser.go(&format!("http://{address}/"));
    browser.until("document.title === 'loaded'");
    let events = browser.events();
    let blocked = events.iter().any(|event| {
        event.to_string().contains("blockedReason")
            || event.to_string().contains("frame-ancestors")
            || event.to_string().contains("X-Frame-Options")
    });
    let refused = events.iter().any(|event| {
        event["method"] == "Network.responseReceived"
            && event["params"]["response"]["url"].as_str().is_some_and(|url| url.starts_with(&opened.origin))
            && event["params"]["response"]["status"].as_u64() >= Some(400)
    });
    assert!(blocked || refused, "{events:?}");
}

#[test]
fn attack_18_a_forged_request_changes_nothing() {
    let env = seeded();
    let opened = Opened::of(&env);
    let cookie = entered(&opened);
    let token = form_token(&opened, &cookie);
    let (host, origin, port) = (opened.host(), opened.origin.as_str(), opened.port());
    let id = "decision:use-postgresql-for-orders";
    let good = format!("token={token}&id={id}");
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    let full = [("Host", host), ("Cookie", &cookie), ("Origin", origin), kind];
    let without = |name: &str| full.into_iter().filter(|(known, _)| *known != name).collect::<Vec<_>>();
    let with = |name: &'static str, value: &'static str| {
        let mut all = without(name);
        all.push((name, value));
        all
    };
    let site = |value: &'static str| {
        let mut all = full.to_vec();
        all.push(("Sec-Fetch-Site", value));
        all
    };
    for (why, headers, body, code) in [
        ("no cookie", without("Cookie"), good.clone(), 401),
        ("a wrong cookie", with("Cookie", "heirloom=00"), good.clone(), 401),
        ("no origin", without("Origin"), good.clone(), 403),
        ("another origin", with("Origin", "http://evil.example"), good.clone(), 403),
        ("the null origin", with("Origin", "null"), good.clone(), 403),
        ("an origin that only begins so", with("Origin", "http://localhost"), good.clone(), 403),
        ("another site", site("cross-site"), good.clone(), 403),
        ("a neighbour below localhost", site("same-site"), good.clone(), 403),
        ("no form token", full.to_vec(), format!("id={id}"), 400),
        ("a wrong form token", full.to_vec(), format!("token=0&id={id}"), 400),
    ] {
        let answer = raw(port, "POST", "/do/retire", &headers, &body);
        let got = status(&answer);
        assert!(got == code || (code == 400 && (400..500).contains(&got)), "{why}: {answer}");
        let state = env.run(&["show", id, "--json"]).ok().json();
        assert_eq!(state["status"], "active", "{why}");
    }
    // A link does nothing, whoever made it.
    assert_eq!(status(&raw(port, "GET", &format!("/do/retire?{good}"), &full, "")), 405);
    assert_eq!(status(&raw(port, "POST", "/do/retire", &full, &good)), 303);
    assert_eq!(env.run(&["show", id, "--json"]).ok().json()["status"], "retired");
}

#[test]
fn attack_18_a_name_that_was_bound_to_this_machine_leads_nowhere() {
    let env = seeded();
    let opened = Opened::of(&env);
    let cookie = entered(&opened);
    let port = opened.port();
    let evil = format!("evil.example:{port}");
    let loopback = format!("127.0.0.1:{port}");
    let localhost = format!("localhost:{port}");
    let name = opened.host().split(':').next().unwrap().to_owned();
    let other = format!("{name}:1");
    let below = format!("x.{}", opened.host());
    for host in [evil.as_str(), loopback.as_str(), localhost.as_str(), other.as_str(), below.as_str(), ""] {
        let answer = raw(port, "GET", "/", &[("Host", host), ("Cookie", &cookie)], "");
        assert!(matches!(status(&answer), 400 | 403), "{host}: {answer}");
        assert!(!answer.contains("PostgreSQL"), "{host}");
        let link = opened.link.strip_prefix(&opened.origin).unwrap();
        let answer = raw(port, "GET", link, &[("Host", host)], "");
        assert!(!answer.to_lowercase().contains("set-cookie"), "{host}: {answer}");
    }
    let twice =
        raw(port, "GET", "/", &[("Host", opened.host()), ("Host", "evil.example"), ("Cookie", &cookie)], "");
    assert!(matches!(status(&twice), 400 | 403), "{twice}");
}

#[test]
fn attack_18_another_account_of_the_machine_cannot_open_the_page() {
    let env = seeded();
    let opened = Opened::of(&env);
    let folder = env.home().join("data/heirloom/server");
    let file = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "html"))
        .unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(std::fs::read_to_string(&file).unwrap().contains(&opened.link));
    // The link is in nobody's list of processes.
    let secret = opened.link.rsplit_once('/').unwrap().1;
    let line = std::fs::read(format!("/proc/{}/cmdline", opened.child.id())).unwrap();
    assert!(!String::from_utf8_lossy(&line).contains(secret));
    if rustix::process::getuid().is_root() {
        let mut other = std::process::Command::new("cat");
        let read = other.arg(&file).uid(65_534).gid(65_534).output().unwrap();
        assert!(!read.status.success() && read.stdout.is_empty());
    }
    // It can reach the port, as everybody can, and gets nothing: not before the link was used, not after, not with a guess.
    let (port, host) = (opened.port(), opened.host().to_owned());
    let ask = |path: &str, cookie: &str| raw(port, "GET", path, &[("Host", &host), ("Cookie", cookie)], "");
    assert_eq!(status(&ask("/", "")), 401);
    assert_eq!(status(&ask("/enter/", "")), 404);
    assert_eq!(status(&ask(&format!("/enter/{}", "0".repeat(64)), "")), 401);
    let cookie = entered(&opened);
    assert_eq!(status(&ask("/", &cookie)), 200);
    for stolen in
        ["", "heirloom=", "heirloom=x", &format!("heirloom={secret}"), &format!("{cookie}; heirloom=x")]
    {
        let answer = ask("/", stolen);
        assert_eq!(status(&answer), 401, "{stolen}");
        assert!(!answer.contains("PostgreSQL"));
    }
    let again = ask(opened.link.strip_prefix(&opened.origin).unwrap(), "");
    assert_eq!(status(&again), 401, "a link works once: {again}");
    assert!(!again.to_lowercase().contains("set-cookie"));
    // No other door stands open on this port.
    for path in ["/v1/status", "/v1/memories", "/mcp", "/metrics", "/openapi.json"] {
        assert!(matches!(status(&ask(path, &cookie)), 404 | 405), "{path}");
    }
}

#[test]
fn attack_18_a_strangers_server_on_the_same_port_gets_nothing_that_opens_anything() {
    let env = seeded();
    let mut opened = Opened::of(&env);
    let mut browser = Browser::start();
    browser.enter(&opened.link);
    opened.child.kill().unwrap();
    opened.child.wait().unwrap();
    let stranger = TcpListener::bind(("127.0.0.1", opened.port())).unwrap();
    let heard = std::thread::spawn(move || {
        let mut all = String::new();
        for stream in stranger.incoming().take(3).flatten() {
            let mut stream = stream;
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            let mut bytes = [0; 8192];
            let count = stream.read(&mut bytes).unwrap_or(0);
            all.push_str(&String::from_utf8_lossy(&bytes[..count]));
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
            );
            if all.contains("GET / ") {
                break;
            }
        }
        all
    });
    browser.go(&format!("{}/", opened.origin));
    let heard = heard.join().unwrap();
    // A browser sends its cookie to whoever has the name: it is of a session that ended with its process.
    let cookie = heard
        .lines()
        .find_map(|line| {
            line.to_lowercase()
                .starts_with("cookie:")
                .then(|| line.split_once(':').unwrap().1.trim().to_owned())
        })
        .unwrap_or_default();
    let next = Opened::of(&env);
    assert_ne!(
        next.host().split(':').next(),
        opened.host().split(':').next(),
        "every process has a name of its own"
    );
    let answer = raw(next.port(), "GET", "/", &[("Host", next.host()), ("Cookie", &cookie)], "");
    assert_eq!(status(&answer), 401, "{answer}");
    assert!(
        !env.files_below(&env.home()).iter().any(|(name, bytes)| {
            let text = String::from_utf8_lossy(bytes);
            !cookie.is_empty() && text.contains(cookie.split_once('=').unwrap().1) && {
                assert!(!name.is_empty());
                true
            }
        }),
        "no cookie is on the disk"
    );
}

#[test]
fn a_process_that_is_no_person_is_not_served_by_a_person_s_desk() {
    // A server for programs never makes a person's call, whatever it is asked.
    let env = seeded();
    let mut command = env.command(HEIRLOOM);
    let out = command.args(["open", "--print", "--json"]).output().unwrap();
    assert!(!out.status.success());
    assert!(String::from_utf8_lossy(&out.stdout).contains("NEEDS_PERSON"), "{out:?}");
}
