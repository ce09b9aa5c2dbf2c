//! The page in a real browser: every flow with the keyboard alone, and what it shows against what the command line says.

use crate::browser::Browser;
use crate::env::{HEIRLOOM, TestEnv, terminal};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};

/// A page that a person opened.
pub(crate) struct Opened {
    pub(crate) child: Child,
    pub(crate) link: String,
    /// Scheme, name and port.
    pub(crate) origin: String,
}

impl Opened {
    pub(crate) fn of(env: &TestEnv) -> Opened {
        let (master, slave) = terminal();
        let mut command = env.command(HEIRLOOM);
        command
            .args(["open", "--print"])
            .stdin(slave.try_clone().unwrap())
            .stderr(slave)
            .stdout(Stdio::piped())
            .env("NO_COLOR", "1");
        let mut child = command.spawn().unwrap();
        drop(command);
        // Somebody has to read what is said to the terminal, or it fills up.
        std::thread::spawn(move || {
            let _ = std::fs::File::from(master).read_to_end(&mut Vec::new());
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let link = lines.next().expect("the page ended").unwrap();
        let origin = link.split('/').take(3).collect::<Vec<_>>().join("/");
        Opened { child, link, origin }
    }

    pub(crate) fn port(&self) -> u16 {
        self.origin.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    /// The random name and the port.
    pub(crate) fn host(&self) -> &str {
        self.origin.strip_prefix("http://").unwrap()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A prompt as a coding agent's hook sends it.
pub(crate) fn prompt(env: &TestEnv, session: &str, text: &str) {
    let event = json!({ "hook_event_name": "UserPromptSubmit", "cwd": env.project(), "session_id": session, "prompt": text });
    let mut command = env.command(HEIRLOOM);
    command.args(["hook", "prompt", "--agent", "claude-code"]);
    env.run_with(&["hook", "prompt", "--agent", "claude-code"], event.to_string().as_bytes()).ok();
}

/// A project with something on every shelf, and something that waits.
pub(crate) fn seeded() -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).ok();
    let person = |args: &[&str]| env.at_terminal(args, "").ok();
    person(&[
        "add",
        "decision",
        "Use PostgreSQL for orders because we need jsonb and row locks",
        "--tag",
        "database",
    ]);
    person(&[
        "add",
        "decision",
        "Send mail through a queue because the provider is slow at noon",
        "--tag",
        "mail",
    ]);
    person(&[
        "add",
        "constraint",
        "The payment API allows 100 requests per minute because of our contract",
        "--tag",
        "payment",
    ]);
    person(&[
        "add",
        "lesson",
        "A rebase lost three commits, fixed by git reflog and a cherry-pick",
        "--topic",
        "git/rebase",
    ]);
    person(&["remember", "I prefer tabs over spaces"]);
    env.run(&["add", "constraint", "Never deploy on Fridays because nobody is there"]);
    env.run(&["add", "preference", "Write tests before code because it shows what is wanted"]);
    env.run(&["add", "canon", "Deploys happen on Tuesdays only"]);
    env.run(&["add", "canon", "The mission is to keep orders flowing"]);
    env.run(&["add", "canon", "Agents answer in English"]);
    prompt(&env, "monday", "which database do we use for orders, and why?");
    env
}

/// The window that flows are tried in.
fn at_desk(env: &TestEnv) -> (Opened, Browser) {
    let opened = Opened::of(env);
    let mut browser = Browser::start();
    browser.looks(1280, 800, false);
    browser.enter(&opened.link);
    (opened, browser)
}

#[test]
fn a_memory_is_searched_opened_edited_and_the_edit_undone_with_the_keyboard_alone() {
    let env = seeded();
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("/postgres");
    browser.until("location.pathname === '/search' && document.querySelectorAll('.hits .item').length >= 1");
    browser.until("document.querySelector('.hits .snippet mark, .hits .head').textContent.toLowerCase().includes('postgres')");
    // Why it is there, with numbers for whoever focuses the bar.
    assert!(
        browser
            .eval("document.querySelector('.why').getAttribute('aria-label')")
            .as_str()
            .unwrap()
            .contains("score")
    );
    browser.keys("<Enter>");
    browser.until("document.activeElement.closest('.hits .item')");
    browser.keys("<Enter>");
    browser.until("location.pathname === '/memory'");
    browser.shows("row locks");
    browser.shows("high: a person wrote or accepted exactly these bytes");
    browser.keys("e");
    browser.until("location.pathname === '/edit' && document.activeElement.name === 'title'");
    browser.keys_until("<Tab>", "document.activeElement.name === 'field.rationale'");
    browser.eval("document.activeElement.select()");
    browser.keys("we need jsonb and a good planner");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Save'");
    browser.keys("<Enter>");
    browser.shows("Saved.");
    browser.shows("a good planner");
    // The history has both versions side by side.
    browser.until("document.querySelector('#history .diff ins')");
    assert!(
        browser
            .eval("document.querySelector('#history .diff').innerText")
            .as_str()
            .unwrap()
            .contains("row locks")
    );
    browser.keys("u");
    browser.shows("Undone");
    let text = env.run(&["show", "decision:use-postgresql-for-orders"]).ok().stdout;
    assert!(text.contains("row locks") && !text.contains("planner"), "{text}");
    // Chips narrow the search to a kind.
    browser.keys("/");
    browser.eval("document.getElementById('q').select()");
    browser.keys("kind:lesson");
    browser.until("document.querySelectorAll('.hits .item').length === 1");
    browser.shows("A rebase lost three commits");
    assert_eq!(browser.eval("document.querySelector('.chip[aria-current]').textContent"), json!("lesson"));
}

#[test]
fn a_memory_is_retired_restored_archived_and_forgotten_with_the_keyboard_alone() {
    let env = seeded();
    let (opened, mut browser) = at_desk(&env);
    browser.go(&format!("{}/search?q=mail", opened.origin));
    browser.keys("j<Enter>");
    browser.until("location.pathname === '/memory'");
    browser.shows("Send mail through a queue");
    browser.keys("x");
    browser.shows("1 memory: retired.");
    browser.keys("x");
    browser.shows("1 memory: restored.");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Archive'");
    browser.keys("<Enter>");
    browser.shows("1 memory: archived.");
    browser.keys("u");
    browser.shows("Undone");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Forget…'");
    browser.keys("<Enter>");
    browser.shows("It cannot be undone");
    browser.until("document.activeElement.textContent === 'Forget it for good'");
    browser.keys("<Enter>");
    browser.shows("Forgotten for good");
    assert_eq!(env.run(&["show", "decision:send-mail-through-a-queue"]).code, Some(3));
}

#[test]
fn several_memories_are_retired_after_a_preview_and_brought_back_by_one_undo() {
    let env = seeded();
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("/kind:decision");
    browser.until("document.querySelectorAll('.hits .item').length === 2");
    browser.keys("<Escape>j<Space>j<Space>");
    browser.until("document.querySelectorAll('[name=id]:checked').length === 2 && !document.querySelector('[data-needs-selection]').disabled");
    browser.eval("document.activeElement.blur()");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Retire selected…'");
    browser.keys("<Enter>");
    browser.shows("These go out of use at once");
    browser.until("document.activeElement.textContent === 'Retire 2'");
    browser.keys("<Enter>");
    browser.shows("2 memories: retired.");
    assert_eq!(env.run(&["list", "--kind", "decision", "--json"]).ok().items(), json!([]));
    browser.keys("u");
    browser.shows("Undone");
    assert_eq!(env.run(&["list", "--kind", "decision", "--json"]).ok().items().as_array().unwrap().len(), 2);
}

#[test]
fn what_waits_is_accepted_rejected_and_taken_back_with_the_keyboard_alone() {
    let env = seeded();
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("gr");
    browser
        .until("location.pathname === '/review' && document.querySelectorAll('#drafts .item').length === 3");
    // Every stored byte of what waits.
    browser.shows("Deploys happen on Tuesdays only");
    browser.keys("ja");
    browser.shows("Accepted 1 item.");
    browser.until("document.querySelectorAll('#drafts .item').length === 2");
    let accepted = env.run(&["list", "--kind", "canon", "--json"]).ok().items();
    assert_eq!((accepted.as_array().unwrap().len(), &accepted[0]["trust"]), (1, &json!("high")));
    browser.keys("u");
    browser.shows("Undone");
    browser.until("document.querySelectorAll('#drafts .item').length === 3");
    browser.keys("jx");
    browser.shows("Rejected 1 draft.");
    browser.until("document.querySelectorAll('#drafts .item').length === 2");
    // The rest together, after a look at all of it.
    browser.eval("document.activeElement.blur()");
    browser.keys_until("<Tab>", "document.activeElement.matches('[data-select-all]')");
    browser.keys("<Space>");
    browser.until("document.querySelectorAll('[name=key]:checked').length === 4");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Accept selected…'");
    browser.keys("<Enter>");
    browser.shows("Exactly this will be stored or trusted:");
    browser.shows("Never deploy on Fridays");
    browser.until("document.activeElement.textContent === 'Accept 4'");
    browser.keys("<Enter>");
    browser.shows("Accepted 4 items.");
    browser.shows("Nothing waits.");
    assert_eq!(env.run(&["status", "--json"]).ok().json()["waiting_for_review"], 0);
}

#[test]
fn the_playground_shows_the_exact_block_what_is_left_out_and_what_a_setting_would_change() {
    let env = seeded();
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("gp");
    browser.until("location.pathname === '/playground'");
    browser.keys_until("<Tab>", "document.activeElement.name === 'prompt'");
    browser.keys("which database do we use for orders?");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Show'");
    browser.keys("<Enter>");
    browser.until("document.querySelector('.given')");
    let block = browser.eval("document.querySelector('.given').textContent");
    let recalled = env.run(&["recall", "which database do we use for orders?"]).ok().stdout;
    assert_eq!(block, json!(recalled), "byte for byte what an agent gets");
    browser.shows("Left out");
    browser.shows("tokens");
    browser.keys_until("<Tab>", "document.activeElement.name === 'inject'");
    browser.keys("0");
    browser.keys("<Enter>");
    browser.shows("With these values");
    browser.shows("Nothing: no memory is close enough");
    assert_eq!(browser.eval("document.querySelectorAll('.side .block').length"), json!(2));
    // Nothing of it was stored.
    let kept = env.run(&["config", "get", "retrieval.max_inject", "--json"]).ok().json();
    assert_ne!(kept["value"], json!(0), "{kept}");
}

#[test]
fn sessions_audit_doctor_settings_and_users_are_reached_and_used_with_the_keyboard_alone() {
    let env = seeded();
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("ge");
    browser.until("location.pathname === '/sessions' && document.querySelector('tbody tr')");
    browser.keys("j<Enter>");
    browser.shows("What it got");
    browser.shows("Use PostgreSQL for orders");
    browser.keys("ga");
    browser.until("location.pathname === '/audit' && document.querySelectorAll('tbody tr').length > 5");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Verify the chain'");
    browser.keys("<Enter>");
    browser.shows("The chain is whole");
    browser.keys("gd");
    browser.shows("round trip");
    browser.keys("gt");
    browser.until("location.pathname === '/settings' && document.querySelector('details.setting')");
    browser.keys_until("j", "document.activeElement.textContent.startsWith('retrieval.max_inject')");
    browser.keys("<Enter>");
    browser.keys_until("<Tab>", "document.activeElement.name === 'value' && document.activeElement.closest('details').textContent.includes('retrieval.max_inject')");
    browser.eval("document.activeElement.select()");
    browser.keys("3<Enter>");
    browser.shows("retrieval.max_inject is set.");
    let set = env.run(&["config", "get", "retrieval.max_inject", "--json"]).ok().json();
    assert_eq!((&set["value"], &set["origin"]), (&json!(3), &json!("project")), "{set}");
    browser.keys("gu");
    browser.until("location.pathname === '/users'");
    browser.keys_until("<Tab>", "document.activeElement.name === 'user'");
    browser.keys("anna<Enter>");
    browser.shows("anna is added.");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Make a token' && document.activeElement.closest('section').textContent.includes('anna')");
    browser.keys("<Enter>");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Make it'");
    browser.keys("<Enter>");
    browser.shows("This is the token of anna");
    let users: Value = env.run(&["user", "list", "--json"]).ok().json();
    assert!(users.to_string().contains("anna") && users.to_string().contains("read,write"), "{users}");
    browser.keys("?");
    browser.until("document.getElementById('help').open");
    browser.keys("<Escape>");
    browser.until("!document.getElementById('help').open");
}

#[test]
fn the_counts_on_the_page_are_those_of_status() {
    let env = seeded();
    let (_opened, mut browser) = at_desk(&env);
    let state = env.run(&["status", "--json"]).ok().json();
    for shelf in state["shelves"].as_array().unwrap() {
        let row = format!(
            "[...document.querySelectorAll('.counts tbody tr')].find(row => row.cells[0].textContent === {})",
            shelf["shelf"]
        );
        for (at, count) in ["active", "retired", "archived"].iter().enumerate() {
            let shown = browser.eval(&format!("Number({row}.cells[{}].textContent)", at + 1));
            assert_eq!(shown.as_f64(), shelf[count].as_f64(), "{count} of {shelf}");
        }
    }
    for category in state["categories"].as_array().unwrap().iter().filter(|one| one["enabled"] == json!(true))
    {
        let name = category["category"].as_str().unwrap().replace('_', " ");
        let shown = browser.eval(&format!(
            "Number([...document.querySelectorAll('.counts tbody .sub')].find(row => row.cells[0].textContent === {}).cells[1].textContent)",
            json!(name)
        ));
        assert_eq!(shown.as_f64(), category["active"].as_f64(), "{category}");
    }
    let waiting = state["waiting_for_review"].as_u64().unwrap();
    assert!(waiting > 0);
    let shown = browser.eval("document.querySelector('.attention a[href=\"/review\"] strong').textContent");
    assert_eq!(shown, json!(waiting.to_string()));
}

#[test]
fn changes_by_other_processes_and_by_editors_appear_without_a_reload() {
    let env = seeded();
    let (_opened, mut browser) = at_desk(&env);
    browser.eval("window.same = true");
    env.at_terminal(&["add", "decision", "Rotate the logs daily because the disk is small"], "").ok();
    browser.shows("Rotate the logs daily");
    // An editor changes a file behind everybody's back.
    let file = env.memory("decisions/rotate-the-logs-daily.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("Rotate the logs daily", "Rotate the logs weekly")).unwrap();
    browser.shows("Rotate the logs weekly");
    assert_eq!(browser.eval("window.same"), json!(true), "it was no reload");
}

#[test]
fn a_wrong_edit_says_what_is_wrong_beside_what_was_typed() {
    let env = seeded();
    let (opened, mut browser) = at_desk(&env);
    browser.go(&format!("{}/edit?id=decision:use-postgresql-for-orders&whole=1", opened.origin));
    browser.until("document.activeElement.name === 'whole'");
    browser.eval("document.activeElement.value = 'no json'");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Save'");
    browser.keys("<Enter>");
    browser.shows("the changed text is not a valid record");
    assert_eq!(browser.eval("document.querySelector('[name=whole]').value"), json!("no json"));
    // Somebody else was quicker.
    browser.go(&format!("{}/edit?id=decision:use-postgresql-for-orders", opened.origin));
    env.at_terminal(
        &["edit", "decision:use-postgresql-for-orders", "--field", "rationale=we need jsonb"],
        "",
    )
    .ok();
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Save'");
    browser.keys("<Enter>");
    browser.shows("changed since it was read");
}

#[test]
fn a_page_asks_for_the_pin_where_the_settings_want_it() {
    let env = seeded();
    env.at_terminal(&["config", "pin"], "4711\n4711\n").ok();
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("gr");
    browser.until("document.querySelector('#drafts .item [name=pin]')");
    let before = env.run(&["status", "--json"]).ok().json()["waiting_for_review"].clone();
    browser.eval("document.querySelector('#drafts [action=\"/do/accept\"] [name=pin]').focus()");
    browser.keys("9999<Enter>");
    browser.shows("that is not the PIN");
    assert_eq!(env.run(&["status", "--json"]).ok().json()["waiting_for_review"], before);
    browser.eval("document.querySelector('#drafts [action=\"/do/accept\"] [name=pin]').select()");
    browser.keys("4711<Enter>");
    browser.shows("Accepted 1 item.");
}

#[test]
fn only_a_person_at_a_terminal_opens_the_page() {
    let env = seeded();
    env.run(&["open", "--print"]).fails_with("NEEDS_PERSON", 1);
    let agent = env.at_terminal_with(&["open", "--print"], "", &[("CLAUDECODE", "1")]);
    assert!(agent.code != Some(0) && agent.stderr.contains("agent"), "{agent:?}");
}

/// Two decisions that say nearly the same.
pub(crate) fn twice(env: &TestEnv) {
    for args in [
        ["add", "decision", "Keep carts in Redis for one day because losing one is cheap", "--tag", "cart"],
        ["add", "decision", "Keep carts in Redis for two days because losing one is cheap", "--tag", "redis"],
    ] {
        env.at_terminal(&args, "").ok();
    }
}

#[test]
fn two_that_say_nearly_the_same_are_joined_into_one_and_brought_back_by_one_undo() {
    let env = seeded();
    twice(&env);
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("gr");
    browser.until("location.pathname === '/review' && document.querySelector('#duplicates .item')");
    browser.keys_until("j", "document.activeElement.matches('#duplicates .item')");
    browser.keys("m");
    browser.until("location.pathname === '/join' && document.querySelector('form.join')");
    // Lists begin with the lines of both sides; a field is taken from either.
    browser.keys_until(
        "<Tab>",
        "document.activeElement.dataset.into === 'field.decision' && document.activeElement.textContent.startsWith('Right')",
    );
    browser.keys("<Enter>");
    browser.until("document.activeElement.name === 'field.decision'");
    let taken = browser.eval("document.activeElement.value").as_str().unwrap().to_owned();
    browser.keys_until("<Tab>", "document.activeElement.name === 'field.rationale'");
    browser.eval("document.activeElement.select()");
    browser.keys("a cart is cheap to lose");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Save as one'");
    browser.keys("<Enter>");
    browser.shows("Joined: ");
    let active = || env.run(&["list", "--kind", "decision", "--tag", "cart", "--json"]).ok().items();
    let joined = active();
    let one = &joined.as_array().unwrap()[0];
    let text = env.run(&["show", one["id"].as_str().unwrap(), "--json"]).ok().json();
    assert_eq!(text["fields"]["decision"], json!(taken), "{text}");
    assert!(text.to_string().contains("a cart is cheap to lose"), "{text}");
    assert_eq!(text["tags"], json!(["cart", "redis"]), "{text}");
    browser.until("!document.querySelector('#duplicates .item')");
    browser.keys("u");
    browser.shows("Undone");
    browser.until("document.querySelector('#duplicates .item')");
    let all = env.run(&["list", "--kind", "decision", "--json"]).ok().items();
    assert_eq!(all.as_array().unwrap().len(), 4, "{all}");
}

#[test]
fn a_fact_that_contradicts_another_is_joined_with_it_in_review() {
    let env = seeded();
    env.run(&["remember", "I prefer spaces over tabs"]);
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("gr");
    browser.until("[...document.querySelectorAll('#drafts .item')].some(one => one.textContent.includes('Known, and would be replaced'))");
    browser.keys_until("j", "document.activeElement.textContent.includes('Known, and would be replaced')");
    browser.keys("m");
    browser.until("location.pathname === '/join' && document.querySelector('[name=whole]')");
    browser.keys_until("<Tab>", "document.activeElement.name === 'whole'");
    browser.eval("document.activeElement.select()");
    browser.keys("I prefer tabs over spaces, except in Python");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Save as one'");
    browser.keys("<Enter>");
    browser.shows("Joined: ");
    let facts = env.run(&["list", "--kind", "fact", "--json"]).ok().items();
    assert_eq!(facts.as_array().unwrap().len(), 1, "{facts}");
    assert!(facts.to_string().contains("except in Python"), "{facts}");
    browser.keys("u");
    browser.shows("Undone");
    browser.until("[...document.querySelectorAll('#drafts .item')].some(one => one.textContent.includes('Known, and would be replaced'))");
}

#[test]
fn any_two_versions_are_compared_and_cited_code_is_shown_with_whether_it_fits() {
    let env = seeded();
    let id = "decision:use-postgresql-for-orders";
    env.write(env.project().join("orders.sql"), "create table orders (\n  id bigint,\n  body jsonb\n);\n");
    env.at_terminal(&["anchor", "add", id, "orders.sql:1-4"], "").ok();
    for text in ["first reason", "second reason", "third reason"] {
        env.at_terminal(&["edit", id, "--field", &format!("rationale={text}")], "").ok();
    }
    let (opened, mut browser) = at_desk(&env);
    browser.go(&format!("{}/memory?id={id}", opened.origin));
    browser.until("document.querySelector('#history .diff') && document.querySelector('.cited pre')");
    assert!(
        browser
            .eval("document.querySelector('.cited pre').textContent")
            .as_str()
            .unwrap()
            .contains("body jsonb")
    );
    // The first kept version against the one before the last.
    browser.keys_until("<Tab>", "document.activeElement.name === 'from'");
    browser.keys("<Home>");
    browser.keys("<Tab>");
    browser.until("document.activeElement.name === 'to'");
    browser.keys("<End><ArrowUp>");
    browser.keys_until("<Tab>", "document.activeElement.textContent === 'Compare'");
    browser.keys("<Enter>");
    browser.until("document.querySelector('#history .diff')?.innerText.includes('row locks')");
    let diff = browser.eval("document.querySelector('#history .diff').innerText");
    let diff = diff.as_str().unwrap();
    assert!(diff.contains("second reason") && !diff.contains("third reason"), "{diff}");
    // The code changes, and the page says so.
    env.write(env.project().join("orders.sql"), "create table orders (\n  id bigint\n);\n");
    browser.go(&format!("{}/memory?id={id}", opened.origin));
    browser.until("/changed since|gone/.test(document.querySelector('.cited').textContent)");
}

#[test]
fn what_a_session_was_given_is_marked_where_it_changed_since() {
    let env = seeded();
    env.at_terminal(
        &["edit", "decision:use-postgresql-for-orders", "--field", "rationale=we need jsonb"],
        "",
    )
    .ok();
    let (_opened, mut browser) = at_desk(&env);
    browser.keys("ge");
    browser.until("location.pathname === '/sessions' && document.querySelector('tbody tr')");
    browser.keys("j<Enter>");
    browser.shows("Use PostgreSQL for orders");
    browser.shows("changed since");
    // Back with the keyboard, down and up again.
    browser.keys("gh");
    browser.until("location.pathname === '/' && document.querySelectorAll('[data-item]').length > 2");
    browser.keys("jjk");
    browser.until("document.activeElement.closest('[data-item]') === document.querySelector('[data-item]')");
}
