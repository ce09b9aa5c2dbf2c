//! Every screen at 320 and 1280 pixels, light and dark: nothing that axe-core objects to, nothing cut off, a picture of each.

use crate::browser::Browser;
use crate::env::TestEnv;
use crate::page::{Opened, seeded, twice};
use serde_json::json;

/// Every screen, with a name for its picture.
const SCREENS: [(&str, &str); 19] = [
    ("home", "/"),
    ("search", "/search?q=orders"),
    ("search-empty", "/search?q=nothingfitsthis"),
    ("memory", "/memory?id=decision:use-postgresql-for-orders"),
    ("forget", "/memory?id=decision:use-postgresql-for-orders&forget=1"),
    ("edit", "/edit?id=decision:use-postgresql-for-orders"),
    ("changes", "/changes"),
    ("review", "/review"),
    (
        "join",
        "/join?id=decision:keep-carts-in-redis-for-one-day&other=decision:keep-carts-in-redis-for-two-days",
    ),
    ("history", "/history?id=decision:use-postgresql-for-orders"),
    (
        "preview",
        "/preview?do=retire&id=decision:use-postgresql-for-orders&id=decision:send-mail-through-a-queue",
    ),
    ("search-all", "/search"),
    ("playground", "/playground?prompt=which+database+do+we+use+for+orders%3F&inject=1"),
    ("sessions", "/sessions"),
    ("audit", "/audit?verify=1"),
    ("doctor", "/doctor"),
    ("settings", "/settings?key=retrieval.max_inject"),
    ("users", "/users"),
    ("fault", "/memory?id=decision:nobody-knows"),
];

fn looked_at(env: &TestEnv, name: &str, screens: &[(&str, &str)]) {
    let opened = Opened::of(env);
    let mut browser = Browser::start();
    browser.enter(&opened.link);
    for (screen, path) in screens {
        for (width, dark) in [(1280, false), (320, true), (1280, true), (320, false)] {
            browser.looks(width, if width == 320 { 640 } else { 800 }, dark);
            if (width, dark) == (1280, false) {
                browser.go(&format!("{}{path}", opened.origin));
                browser
                    .until("document.body.dataset.live === 'on' && !document.querySelector('[data-load]')");
            }
            let light = if dark { "dark" } else { "light" };
            let picture = format!("{name}{screen}-{width}-{light}");
            browser.picture(&picture);
            let wide = browser.eval("document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{picture} is {wide} wide");
            let wrong = browser.violations();
            assert!(wrong.is_empty(), "{picture}:\n{}", wrong.join("\n"));
        }
    }
    let events = browser.events();
    let complaints: Vec<String> =
        Browser::complaints(&events).into_iter().filter(|text| !text.contains("404")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert_eq!(
        Browser::origins(&events).into_iter().collect::<Vec<_>>(),
        std::slice::from_ref(&opened.origin)
    );
}

#[test]
fn every_screen_is_accessible_at_320_and_1280_pixels_in_light_and_dark() {
    let env = seeded();
    twice(&env);
    env.at_terminal(
        &["edit", "decision:use-postgresql-for-orders", "--field", "rationale=we need jsonb"],
        "",
    )
    .ok();
    env.at_terminal(&["user", "add", "anna"], "").ok();
    env.at_terminal(&["user", "token", "anna", "--json"], "").ok();
    looked_at(&env, "", &SCREENS);
}

#[test]
fn an_empty_store_and_a_project_without_one_say_what_to_do_next() {
    let env = TestEnv::new();
    let screens = SCREENS.map(|(name, path)| (name, path.split('?').next().unwrap()));
    let screens: Vec<(&str, &str)> = screens
        .into_iter()
        .filter(|(name, _)| {
            !matches!(
                *name,
                "memory"
                    | "forget"
                    | "edit"
                    | "fault"
                    | "search-empty"
                    | "search-all"
                    | "join"
                    | "history"
                    | "preview"
            )
        })
        .collect();
    {
        let opened = Opened::of(&env);
        let mut browser = Browser::start();
        browser.enter(&opened.link);
        browser.shows("heirloom init");
    }
    env.run(&["init"]).ok();
    looked_at(&env, "empty-", &screens);
    let opened = Opened::of(&env);
    let mut browser = Browser::start();
    browser.enter(&opened.link);
    browser.shows("heirloom add decision");
    browser.go(&format!("{}/sessions", opened.origin));
    browser.shows("heirloom setup");
}

#[test]
fn all_that_a_page_loads_weighs_less_than_150_kilobytes() {
    let env = seeded();
    let opened = Opened::of(&env);
    let mut browser = Browser::start();
    browser.enter(&opened.link);
    let weight = browser.eval(
        "Promise.all(['/', '/style.css', '/app.js', '/icon.svg'].map(path => fetch(path).then(answer => answer.arrayBuffer()))) \
         .then(all => all.reduce((sum, one) => sum + one.byteLength, 0))",
    );
    // Uncompressed, which is more than it would be compressed.
    assert!(weight.as_u64().unwrap() <= 150_000, "{weight}");
    // And it works without the script: forms and links are plain ones.
    browser.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    browser.go(&format!("{}/search?q=postgres", opened.origin));
    let html = browser.call("DOM.getDocument", &json!({ "depth": -1 })).to_string();
    assert!(html.contains("Use PostgreSQL for orders"), "{html}");
}
