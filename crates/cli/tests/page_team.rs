//! The page of a server: who signs in, who is a person, and what nobody gets past.

use crate::browser::Browser;
use crate::env::TestEnv;
use crate::http::{Reply, Server, token_of};
use serde_json::{Value, json};

/// A server and the name of its page.
pub(crate) struct Team {
    pub(crate) server: Server,
    pub(crate) host: String,
}

impl Team {
    pub(crate) fn of(server: Server) -> Team {
        // Without TLS the page has a name of its own, so that its cookie reaches no other port of the machine.
        let sent = server.ask_with("", "GET", "/", None, &[]).is(303);
        let to = sent.header("location").unwrap().to_owned();
        let host = to.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        assert!(host.contains(".localhost:"), "{to}");
        Team { server, host }
    }

    fn origin(&self) -> String {
        format!("http://{}", self.host)
    }

    /// A request as a browser sends it, with these headers instead of the usual ones.
    #[track_caller]
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        form: &[(&str, &str)],
        cookie: &str,
        headers: &[(&str, &str)],
    ) -> Reply {
        let origin = self.origin();
        let mut all: Vec<(&str, &str)> = vec![("Host", self.host.as_str())];
        if method == "POST" {
            all.push(("Origin", origin.as_str()));
            all.push(("Content-Type", "application/x-www-form-urlencoded"));
        }
        if !cookie.is_empty() {
            all.push(("Cookie", cookie));
        }
        for (name, value) in headers {
            all.retain(|(known, _)| known != name);
            if !value.is_empty() {
                all.push((name, value));
            }
        }
        let body: Vec<String> =
            form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let body = body.join("&");
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        all.iter().for_each(|(name, value)| request += &format!("{name}: {value}\r\n"));
        crate::http::read(&self.server.raw(format!("{request}\r\n{body}").as_bytes()))
    }

    pub(crate) fn get(&self, path: &str, cookie: &str) -> Reply {
        self.send("GET", path, &[], cookie, &[])
    }

    pub(crate) fn post(&self, path: &str, form: &[(&str, &str)], cookie: &str) -> Reply {
        self.send("POST", path, form, cookie, &[])
    }

    /// Signs in; the cookie.
    #[track_caller]
    fn sign_in(&self, token: &str) -> String {
        cookie(&self.post("/signin", &[("held", token)], "").is(303))
    }

    /// What forms of this session carry.
    #[track_caller]
    fn form_token(&self, cookie: &str) -> String {
        between(&self.get("/", cookie).is(200).body, "name=\"token\" value=\"", "\"")
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[track_caller]
fn between(text: &str, from: &str, to: &str) -> String {
    let after = text.split_once(from).unwrap_or_else(|| panic!("no {from} in {text}")).1;
    after.split_once(to).unwrap().0.to_owned()
}

#[track_caller]
fn cookie(reply: &Reply) -> String {
    let set = reply.header("set-cookie").unwrap_or_else(|| panic!("{reply:?}"));
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

/// A link for a user, made by a person at a terminal; its path.
fn link(env: &TestEnv, user: &str) -> String {
    let args = ["user", "invite", user, "--server", "http://127.0.0.1:7411", "--json"];
    let made = env.at_terminal(&args, "").ok().json();
    made["link"].as_str().unwrap().strip_prefix("http://127.0.0.1:7411").unwrap().to_owned()
}

const PIN: [(&str, &str); 2] = [("pin", "4711"), ("again", "4711")];

fn with_token(token: &str) -> Vec<(&str, &str)> {
    [("held", token)].into_iter().chain(PIN).collect()
}

/// A fact that a program wants stored, which waits for its user.
fn waits(server: &Server, token: &str, text: &str) {
    let fact = json!({ "kind": "fact", "text": text });
    server.ask_with(token, "POST", "/v1/memories", Some(&fact), &[]).is(202);
}

fn facts(server: &Server, token: &str) -> Vec<Value> {
    let list = server.ask_with(token, "GET", "/v1/memories?tier=semantic", None, &[]).is(200).json();
    list["memories"].as_array().unwrap().clone()
}

#[test]
fn an_invitation_sets_a_pin_once_for_its_own_user_and_is_audited() {
    let env = TestEnv::ready();
    let (anna, bert) = (token_of(&env, "anna", "read,write"), token_of(&env, "bert", "read,write"));
    env.run(&["user", "invite", "anna", "--server", "https://x.example"]).fails_with("NEEDS_PERSON", 1);
    env.at_terminal(&["user", "invite", "nobody", "--server", "https://x.example"], "")
        .fails_with("NOT_FOUND", 3);
    env.at_terminal(&["user", "invite", "anna", "--server", "http://x.example"], "")
        .fails_with("SECURITY_ERROR", 1);
    env.at_terminal(&["user", "invite", "anna"], "").fails_with("USAGE", 2);
    let team = Team::of(Server::with(&env, &[]));
    let path = link(&env, "anna");
    assert!(team.get(&path, "").is(200).body.contains("New PIN"), "looking uses nothing up");
    // A foreign token, a PIN that is none, two that differ: refused, and the link still works.
    let foreign = team.post(&path, &with_token(&bert), "");
    assert!(foreign.status == 403 && foreign.body.contains("another user"), "{foreign:?}");
    assert_eq!(team.post(&path, &with_token("hlm_wrong"), "").status, 401);
    assert_ne!(team.post(&path, &[("held", &anna), ("pin", "1"), ("again", "1")], "").status, 303);
    assert_ne!(team.post(&path, &[("held", &anna), ("pin", "4711"), ("again", "4712")], "").status, 303);
    let taken = team.post(&path, &with_token(&anna), "").is(303);
    assert!(!taken.head.contains("4711") && !taken.head.contains(&anna));
    let home = team.get("/", &cookie(&taken)).is(200);
    assert!(home.body.contains("anna") && !home.body.contains("Confirm as a person"), "{}", home.body);
    // Used is used; a newer link ends the one before.
    let again = team.post(&path, &with_token(&anna), "");
    assert!(again.status == 404 && again.body.contains("used already"), "{again:?}");
    let (older, newer) = (link(&env, "anna"), link(&env, "anna"));
    assert_eq!(team.post(&older, &with_token(&anna), "").status, 404);
    // One whose time is over.
    let folder = std::fs::read_dir(env.home().join("data/heirloom/tiers/invites")).unwrap();
    for entry in folder.flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let mut kept: Value = serde_json::from_str(&text).unwrap();
        assert!(!newer.contains(kept["hash"].as_str().unwrap()), "stored as a hash");
        kept["expires_at"] = json!("2020-01-01T00:00:00Z");
        std::fs::write(entry.path(), kept.to_string()).unwrap();
    }
    let late = team.post(&newer, &with_token(&anna), "");
    assert!(late.status == 404 && late.body.contains("this link has expired"), "{late:?}");
    // Who invited whom is in the audit of whoever did it; what became of it in the user's own. Neither has the link or the PIN.
    let lines = env.run(&["audit", "--tiers", "--json"]).ok().stdout;
    assert!(lines.contains("user_invite: invitation") && lines.contains("`anna`"), "{lines}");
    let own = team.server.ask_with(&anna, "GET", "/v1/audit?chain=own", None, &[]).is(200).body;
    assert!(own.contains("confirm: the PIN is set") && own.contains("token:anna/"), "{own}");
    for text in [&lines, &own] {
        assert!(!text.contains("hli_") && !text.contains("4711"), "{text}");
    }
}

#[test]
fn five_wrong_pins_make_a_pause_in_which_not_even_the_right_one_counts() {
    let env = TestEnv::ready();
    let anna = token_of(&env, "anna", "read,write");
    let team = Team::of(Server::with(&env, &[]));
    team.post(&link(&env, "anna"), &with_token(&anna), "").is(303);
    let cookie = team.sign_in(&anna);
    let form = team.form_token(&cookie);
    let typed = |pin: &str| team.post("/do/confirm", &[("token", &form), ("pin", pin)], &cookie);
    for left in (1..5).rev() {
        let wrong = typed("0000");
        assert!(wrong.body.contains(&format!("{left} more tries")), "{wrong:?}");
    }
    assert!(typed("0000").body.contains("too many wrong PINs"));
    let paused = typed("4711");
    assert!(paused.status != 303 && paused.body.contains("too many wrong PINs"), "{paused:?}");
    assert!(team.get("/", &cookie).body.contains("Confirm as a person"), "still a reader");
    let own = team.server.ask_with(&anna, "GET", "/v1/audit?chain=own", None, &[]).is(200).body;
    assert!(own.contains("confirm: a wrong PIN"), "{own}");
}

#[test]
fn a_reader_changes_nothing_and_a_person_accepts_within_the_scopes_of_the_token() {
    let env = TestEnv::ready();
    let anna = token_of(&env, "anna", "read,write");
    let team = Team::of(Server::with(&env, &[]));
    waits(&team.server, &anna, "I live in Graz");
    let cookie = team.sign_in(&anna);
    let review = team.get("/review", &cookie).is(200).body;
    assert!(review.contains("I live in Graz"));
    let (form, shown) = (team.form_token(&cookie), between(&review, "name=\"shown\" value=\"", "\""));
    let accept = || team.post("/do/accept", &[("token", &form), ("shown", &shown)], &cookie);
    for deed in ["accept", "reject", "retire", "edit", "undo", "forget", "user", "token", "invite"] {
        let refused = team.post(
            &format!("/do/{deed}"),
            &[("token", &form), ("shown", &shown), ("user", "eve")],
            &cookie,
        );
        assert!(refused.status == 403 && refused.body.contains("NEEDS_PERSON"), "{deed}: {refused:?}");
    }
    assert!(facts(&team.server, &anna).is_empty());
    // Without a PIN there is nothing to confirm with; the page says what to ask for.
    let none = team.post("/do/confirm", &[("token", &form), ("pin", "4711")], &cookie);
    assert!(none.body.contains("heirloom user invite anna"), "{none:?}");
    team.post(&link(&env, "anna"), &with_token(&anna), "").is(303);
    team.post("/do/confirm", &[("token", &form), ("pin", "4711")], &cookie).is(303);
    // What was shown to the reader is what the person accepts.
    accept().is(303);
    let stored = facts(&team.server, &anna);
    assert_eq!((stored.len(), &stored[0]["trust"]), (1, &json!("high")), "{stored:?}");
    // A person is no more than the token: no scope `delete`, none `admin`.
    let id = stored[0]["id"].as_str().unwrap();
    let gone = team.post("/do/forget", &[("token", &form), ("id", id)], &cookie);
    assert!(gone.status == 403 && gone.body.contains("delete"), "{gone:?}");
    assert_eq!(team.post("/do/user", &[("token", &form), ("user", "eve")], &cookie).status, 403);
    // Nothing of the machine or of a project is here, for whoever is a person either.
    for deed in ["set", "unset", "archive"] {
        assert_eq!(team.post(&format!("/do/{deed}"), &[("token", &form)], &cookie).status, 404, "{deed}");
    }
    for path in ["/settings", "/doctor", "/sessions", "/playground"] {
        assert_eq!(team.get(path, &cookie).status, 404, "{path}");
    }
    // The token was a token all along: over HTTP it is no person.
    waits(&team.server, &anna, "I work in Wien");
}

#[test]
fn only_the_pages_own_forms_from_its_own_origin_and_browser_count() {
    let env = TestEnv::ready();
    let (anna, bert) = (token_of(&env, "anna", "read,write"), token_of(&env, "bert", "read,write"));
    let team = Team::of(Server::with(&env, &[]));
    let cookie = team.sign_in(&anna);
    let form = team.form_token(&cookie);
    let pin = [("token", form.as_str()), ("pin", "4711")];
    for headers in [
        [("Origin", "")],
        [("Origin", "https://evil.example")],
        [("Origin", "null")],
        [("Sec-Fetch-Site", "cross-site")],
        [("Host", "evil.example")],
        [("Host", "127.0.0.1")],
    ] {
        assert_eq!(team.send("POST", "/do/confirm", &pin, &cookie, &headers).status, 403, "{headers:?}");
        assert_eq!(team.send("POST", "/signin", &[("held", &anna)], "", &headers).status, 403, "{headers:?}");
    }
    // A form of another session, or of none.
    let other = team.sign_in(&bert);
    let foreign = team.form_token(&other);
    for wrong in ["", "x", foreign.as_str()] {
        let refused = team.post("/do/confirm", &[("token", wrong), ("pin", "4711")], &cookie);
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    // No cookie, or one that nobody was given: the form to sign in, and nothing else.
    for shown in ["", "heirloom=0123", "heirloom=", "other=1"] {
        assert_eq!(team.get("/", shown).is(303).header("location"), Some("/signin"), "{shown}");
        assert_eq!(team.post("/do/confirm", &pin, shown).status, 401, "{shown}");
        assert_eq!(team.get("/live", shown).status, 401, "{shown}");
    }
    for token in ["", "hlm_wrong", team.server.token.as_str()] {
        assert_eq!(team.post("/signin", &[("held", token)], "").status, 401, "{token}");
    }
    let page = team.get("/", &cookie).is(200);
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
    assert!(!page.body.contains(&anna) && !page.body.contains("hlm_"), "the token stays in the server");
    // Signed out, and a token that was revoked: neither opens anything.
    team.post("/signout", &[("token", &form)], &cookie).is(303);
    team.get("/", &cookie).is(303);
    env.at_terminal(&["user", "token", "bert", "--revoke"], "").ok();
    let gone = team.get("/search", &other);
    assert!(gone.status == 401 && gone.body.contains("UNAUTHENTICATED"), "{gone:?}");
}

#[test]
fn somebody_signs_in_confirms_with_the_pin_and_accepts_a_draft_with_the_keyboard_alone() {
    let env = TestEnv::ready();
    let anna = token_of(&env, "anna", "read,write");
    let team = Team::of(Server::with(&env, &[]));
    waits(&team.server, &anna, "I live in Graz");
    let path = link(&env, "anna");
    let mut browser = Browser::start();
    browser.looks(1280, 800, false);
    browser.go(&format!("{}{path}", team.origin()));
    assert_eq!(browser.violations(), Vec::<String>::new());
    browser.picture("team-invite");
    browser.keys(&format!("{anna}<Tab>4711<Tab>4711<Enter>"));
    browser.until("location.pathname === '/' && document.body.dataset.live === 'on'");
    // Signed out and in again, as a reader first.
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Sign out'");
    browser.keys("<Enter>");
    browser.until("location.pathname === '/signin'");
    assert_eq!(browser.violations(), Vec::<String>::new());
    browser.picture("team-sign-in");
    browser.keys(&format!("{anna}<Enter>"));
    browser.until("location.pathname === '/' && document.body.dataset.live === 'on'");
    browser.shows("waiting for review");
    assert_eq!(browser.violations(), Vec::<String>::new());
    browser.picture("team-home");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Confirm as a person'");
    browser.keys("<Enter>");
    browser.until("location.pathname === '/confirm' && document.activeElement.name === 'pin'");
    browser.picture("team-confirm");
    browser.keys("4711<Enter>");
    browser.until("location.pathname === '/' && document.body.dataset.live === 'on'");
    browser.shows("You are confirmed as a person.");
    browser.keys("gr");
    browser.until("location.pathname === '/review' && document.querySelector('.items [data-item]')");
    browser.keys("ja");
    browser.shows("Accepted 1 item");
    assert_eq!(facts(&team.server, &anna).len(), 1);
    let events = browser.events();
    // Chromium also gives advice, which is no complaint.
    let advice =
        |text: &String| text.contains("\"level\":\"verbose\"") || text.contains("\"level\":\"info\"");
    let mut complaints = Browser::complaints(&events);
    complaints.retain(|text| !advice(text));
    assert_eq!(complaints, Vec::<String>::new());
    let origins: Vec<String> = Browser::origins(&events).into_iter().collect();
    assert_eq!(origins, [team.origin()]);
}
