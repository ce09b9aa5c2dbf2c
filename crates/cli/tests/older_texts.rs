//! Whose word counts for bytes that were there before, and for a text that comes back under another name.

use crate::env::{ROOT, TestEnv, target};
use serde_json::{Value, json};

fn trust(env: &TestEnv, id: &str) -> String {
    env.run(&["show", id, "--json"]).ok().json()["trust"].as_str().unwrap().to_owned()
}

fn review(env: &TestEnv) -> Value {
    env.run(&["review", "--json"]).ok().json()
}

#[test]
fn older_bytes_are_the_repositorys_and_stand_in_review_in_one_line_until_a_person_grants_them() {
    let env = TestEnv::ready();
    env.git(&["init", "-q", "-b", "main"]);
    env.at_terminal(&["add", "decision", "Use PostgreSQL because of row locks"], "").ok();
    let id = "decision:use-postgresql";
    assert_eq!(trust(&env, id), "high");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "one"]);
    env.git(&["branch", "older"]);
    env.at_terminal(&["edit", id, "--field", "context=Orders outgrow files", "--message", "why"], "").ok();
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "two"]);
    assert_eq!(trust(&env, id), "high");
    assert_eq!(review(&env).get("older"), None);
    // Another branch has the bytes from before.
    env.git(&["checkout", "-q", "older"]);
    assert_eq!(trust(&env, id), "medium");
    assert_eq!(review(&env)["older"], json!([id]));
    let shown = env.run(&["review"]).ok().stdout;
    assert_eq!(shown.lines().filter(|line| line.contains(id)).count(), 1, "{shown}");
    // Switching back costs nothing, and switching there again neither.
    env.git(&["checkout", "-q", "main"]);
    assert_eq!(trust(&env, id), "high");
    assert_eq!(review(&env).get("older"), None);
    // A person grants them again, once for both branches.
    env.git(&["checkout", "-q", "older"]);
    env.at_terminal(&["trust", id], "y\n").ok();
    assert_eq!(trust(&env, id), "high");
    assert_eq!(review(&env).get("older"), None);
    env.git(&["checkout", "-q", "main"]);
    assert_eq!(trust(&env, id), "high");
}

#[test]
fn undo_grants_the_older_bytes_again_and_copying_them_back_does_not() {
    let env = TestEnv::ready();
    env.at_terminal(&["add", "decision", "Use PostgreSQL because of row locks"], "").ok();
    let id = "decision:use-postgresql";
    let before = std::fs::read(env.memory("decisions/use-postgresql.json")).unwrap();
    env.at_terminal(&["edit", id, "--field", "context=Orders outgrow files", "--message", "why"], "").ok();
    let after = std::fs::read(env.memory("decisions/use-postgresql.json")).unwrap();
    env.write(target("use-postgresql"), &before);
    assert_eq!(trust(&env, id), "medium");
    env.write(target("use-postgresql"), &after);
    env.at_terminal(&["undo"], "y\n").ok();
    assert_eq!(trust(&env, id), "high");
    assert_eq!(review(&env).get("older"), None);
}

#[test]
fn an_agents_text_stays_an_agents_under_another_name() {
    let env = TestEnv::ready();
    env.run(&["add", "decision", "Push straight to main because reviews are slow for everybody here"]).ok();
    let first = env.run(&["list", "--json"]).ok().items()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(trust(&env, &first), "low");
    let name = first.split_once(':').unwrap().1;
    let mut copy: Value =
        serde_json::from_slice(&std::fs::read(env.memory(&format!("decisions/{name}.json"))).unwrap())
            .unwrap();
    for (to, change) in [
        ("copied", None),
        ("blank", Some("  ")),
        ("hidden", Some("\u{200b}\u{2060}\u{e0041}")),
        ("titled", None),
    ] {
        copy["id"] = json!(to);
        if to == "titled" {
            copy["title"] = json!("House rule");
        }
        if let Some(more) = change {
            let text = copy["content"]["decision"].as_str().unwrap().to_owned() + more;
            copy["content"]["decision"] = json!(text);
        }
        env.write(target(to), copy.to_string());
        assert_eq!(trust(&env, &format!("decision:{to}")), "low", "{to}");
    }
    // Moved, with the first one gone.
    std::fs::remove_file(env.memory(&format!("decisions/{name}.json"))).unwrap();
    assert_eq!(trust(&env, "decision:copied"), "low");
    // What nobody here wrote is the repository's, as before.
    copy["content"]["decision"] = json!("Use PostgreSQL");
    copy["content"]["rationale"] = json!(["It has row locks and we know it well"]);
    copy["content"]["context"] = json!("Orders outgrow the files they are kept in");
    env.write(target("strange"), copy.to_string());
    assert_eq!(trust(&env, "decision:strange"), "medium");
    // A note and a line of the vault.
    env.run(&["add", "note", "The deploy key is rotated by hand.\nAsk nobody."]).ok();
    let note =
        env.run(&["list", "--kind", "note", "--json"]).ok().items()[0]["id"].as_str().unwrap().to_owned();
    let file = format!("notes/{}.md", note.split_once(':').unwrap().1);
    let other = "5b9f4c1e-1111-4111-8111-111111111111";
    let text =
        std::fs::read_to_string(env.memory(&file)).unwrap().replace(note.split_once(':').unwrap().1, other);
    env.write(format!("{ROOT}/notes/{other}.md"), text);
    assert_eq!(trust(&env, &format!("note:{other}")), "low");
    // A person who has read it may still stand behind it.
    env.at_terminal(&["trust", "decision:copied"], "y\n").ok();
    assert_eq!(trust(&env, "decision:copied"), "high");
}

#[test]
fn a_persons_edit_raises_an_agents_text_only_if_all_of_it_was_shown() {
    let mut env = TestEnv::ready();
    env.run(&["add", "decision", "Push straight to main because reviews are slow for everybody here"]).ok();
    env.run(&["add", "lesson", "Rebase broke: push with force, always", "--topic", "git/rebase"]).ok();
    let ids: Vec<String> = env
        .run(&["list", "--json"])
        .ok()
        .items()
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["id"].as_str().unwrap().to_owned())
        .collect();
    for id in &ids {
        let flag = if id.starts_with("decision") { ["--tag", "git"] } else { ["--title", "Rebase broke"] };
        env.at_terminal(&["edit", id, flag[0], flag[1], "--message", "filed"], "").ok();
        assert_eq!(trust(&env, id), "low", "{id}");
    }
    // An editor shows the whole of it.
    let editor = env.base().join("editor.sh");
    std::fs::write(
        &editor,
        "#!/bin/sh\nsed -i 's/reviews are slow/reviews take a day/; s/with force/with lease/' \"$1\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.set("EDITOR", editor.to_str().unwrap());
    for id in &ids {
        env.at_terminal(&["edit", id], "").ok();
        assert_eq!(trust(&env, id), "high", "{id}");
        // What is a person's stays a person's, whatever part they change.
        let flag =
            if id.starts_with("decision") { ["--tag", "main"] } else { ["--title", "Rebase broke again"] };
        env.at_terminal(&["edit", id, flag[0], flag[1], "--message", "filed"], "").ok();
        assert_eq!(trust(&env, id), "high", "{id}");
    }
}
