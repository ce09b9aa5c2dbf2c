//! Stops: held once where a person watches, never where nobody does.
//!
//! Comes in: a laboratory. Goes out: findings in it. Never here: how a person types.

use super::super::lab::Lab;
use super::{ASKS, DECIDED};
use serde_json::json;
use std::time::Duration;

const ANSWER: &str = "There is nothing worth adding.";

/// Nobody watches: a script gets its answer, and what was found waits.
pub(super) fn headless(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let ran =
        lab.ask("Which cache should we take?", vec![json!({ "text": DECIDED }), json!({ "text": ANSWER })])?;
    lab.say(ran.text.contains("Redis") && !ran.text.contains(ANSWER), "a script gets the agent's own answer");
    lab.say(lab.ended("stop", "held") == 0, "a session that nobody watches is not held");
    let waits = lab.trace().iter().any(|run| run["because"].to_string().contains("nobody watches"));
    lab.say(waits, "what it found waits for the next session that somebody watches");
    Ok(())
}

/// The model does what it is asked for, with the words it is given.
pub(super) fn saved(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let model = lab.model_name.clone();
    let program = lab.program.display().to_string();
    let save = format!("{program} add decision 'Use Redis for the cache because it is fast' --tag cache");
    let call = lab.host.shell(model.as_deref(), &save, None);
    let steps =
        vec![json!({ "text": DECIDED }), json!({ "tools": [call] }), json!({ "text": "Saved one memory." })];
    let ran = lab.talk("Which cache should we take?", steps, "Done.", "Saved one memory.")?;
    let asked = lab.sent(&ran).into_iter().find(|text| text.contains(ASKS)).unwrap_or_default();
    lab.say(!asked.is_empty(), "the model is told what to save");
    lab.say(asked.contains(&format!("{program} add")), "by a command that works whatever the search path is");
    lab.say(
        lab.ended("stop", "held") == 1,
        &format!("the stop is held up {} times", lab.ended("stop", "held")),
    );
    let listed = lab.heirloom(&["list", "--json"])?;
    lab.say(listed.contains("use-redis-for-the-cache"), "what it saved is there");
    let shown = lab.heirloom(&["show", "redis"])?;
    lab.say(shown.contains("trust low"), "with the trust of an agent");
    lab.say(lab.ended("stop", "saved") == 1, "and `last` says that something was saved");
    lab.say(!ran.text.contains("triage_data"), "people see no data");
    lab.say(!ran.text.to_lowercase().contains("hook error"), "and no error");
    lab.say(is_clean(lab), "no state is left in the project");
    Ok(())
}

/// The model saves nothing; the next thing that is said is not lost for that.
pub(super) fn ignored(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let screen = lab.sit(&lab.project.clone(), &[])?;
    lab.say_at(&screen, "Which cache should we take?", vec![json!({ "text": DECIDED })], ANSWER, ANSWER);
    lab.say(
        lab.ended("stop", "held") == 1,
        &format!("the stop is held up {} times", lab.ended("stop", "held")),
    );
    lab.say(lab.ended("stop", "ignored") == 1, "`last` says that nothing was saved");
    let other = "Decision: RabbitMQ for the queue, since Kafka is too much for two people.";
    let done = "Still nothing to add.";
    let ran = lab.say_at(&screen, "And which queue?", vec![json!({ "text": other })], done, done);
    let asked = lab
        .sent(&ran)
        .iter()
        .any(|text| text.matches(ASKS).count() > 1 || text.contains("RabbitMQ") && text.contains(ASKS));
    lab.say(asked && lab.ended("stop", "held") == 2, "something new in the same session is asked for too");
    lab.say(is_clean(lab), "no state is left in the project");
    Ok(())
}

/// A model that says the same again and saves nothing.
pub(super) fn stubborn(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let ran = lab.talk("Which cache should we take?", Vec::new(), DECIDED, "memcached")?;
    std::thread::sleep(Duration::from_secs(6));
    let held = lab.ended("stop", "held");
    lab.say(held == 1, &format!("a model that only repeats itself is held up {held} times"));
    let requests = lab.sent(&ran).len();
    lab.say(requests <= 2, &format!("after {requests} requests there is an end"));
    Ok(())
}

/// Two sessions one after the other, each with something to save.
pub(super) fn following(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let mut asked = 0;
    for word in ["Redis", "RabbitMQ"] {
        let said = DECIDED.replace("Redis", word);
        let ran =
            lab.talk(&format!("Shall we take {word}?"), vec![json!({ "text": said })], ANSWER, ANSWER)?;
        asked += usize::from(lab.sent(&ran).iter().any(|text| text.contains(ASKS)));
    }
    lab.say(asked == 2, &format!("{asked} of two sessions in a row are looked at"));
    lab.say(lab.ended("stop", "held") == 2, "each is held up once");
    Ok(())
}

/// Two sessions in one folder at once.
pub(super) fn both(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let screens = [lab.sit(&lab.project.clone(), &[])?, lab.sit(&lab.project.clone(), &[])?];
    let mut scripts = Vec::new();
    for (screen, word) in screens.iter().zip(["Redis", "RabbitMQ"]) {
        let said = DECIDED.replace("Redis", word);
        let (prompt, script) =
            lab.prompt(&format!("Shall we take {word}?"), vec![json!({ "text": said })], ANSWER);
        lab.type_in(screen, &prompt, &script);
        scripts.push(script);
    }
    for screen in &screens {
        screen.wait(ANSWER, Duration::from_secs(60));
    }
    std::thread::sleep(Duration::from_secs(3));
    let asked =
        scripts.iter().filter(|name| lab.sent_for(name).iter().any(|text| text.contains(ASKS))).count();
    lab.say(asked == 2, &format!("{asked} of two sessions at once are asked"));
    lab.say(lab.ended("stop", "held") == 2, &format!("{} stops are held up", lab.ended("stop", "held")));
    lab.say(is_clean(lab), "no state is left in the project");
    let verified = lab.heirloom(&["verify"])?;
    lab.say(
        !verified.contains("broken"),
        &format!("the store is whole: {}", verified.lines().last().unwrap_or_default()),
    );
    Ok(())
}

/// A stop in a folder below the project's.
pub(super) fn below(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let folder = lab.folder_below()?;
    let screen = lab.sit(&folder, &[])?;
    lab.say_at(&screen, "Which cache should we take?", vec![json!({ "text": DECIDED })], ANSWER, ANSWER);
    lab.say(
        lab.ended("stop", "held") == 1,
        &format!("the stop is held up {} times", lab.ended("stop", "held")),
    );
    lab.say(Lab::files(&folder).len() == 1, "nothing is left in the folder");
    lab.say(is_clean(lab), "nor in the project");
    Ok(())
}

/// What a session that nobody watched found, at the next one that somebody watches.
pub(super) fn waiting(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    lab.ask("Which cache should we take?", vec![json!({ "text": DECIDED })])?;
    let ran = lab.talk("Say hello.", vec![json!({ "text": "Hello to you." })], ANSWER, ANSWER)?;
    let asked = lab.sent(&ran).iter().any(|text| text.contains(ASKS));
    lab.say(asked, "the next session that somebody watches is told");
    Ok(())
}

/// A subagent that decides something and tries to write into the memory.
pub(super) fn subagent(lab: &mut Lab) -> Result<(), String> {
    lab.prepare()?;
    let evil = lab.host.write(None, &lab.memory("decisions/evil.json"), "{}");
    let steps = vec![json!({ "tools": [evil] }), json!({ "text": DECIDED })];
    let (prompt, inner) = lab.prompt("Think about the orders database postgresql.", steps, "Inner again.");
    let call = lab.host.subagent(&prompt).ok_or("it has no subagents")?;
    let screen = lab.sit(&lab.project.clone(), &[])?;
    let done = "They said so.";
    lab.say_at(&screen, "Ask somebody.", vec![json!({ "tools": [call] })], done, done);
    let inner = lab.sent_for(&inner);
    lab.say(!inner.is_empty(), &format!("the subagent asked its model {} times", inner.len()));
    lab.say(!lab.memory("decisions/evil.json").exists(), "the guard holds in a subagent");
    lab.say(!inner.iter().any(|text| text.contains(ASKS)), "a subagent's own end is not held up");
    Ok(())
}

/// Whether hooks left nothing in the project beside what is in the memory folder.
fn is_clean(lab: &Lab) -> bool {
    let is_odd = |path: &std::path::Path| {
        let text = path.to_string_lossy();
        text.contains(".stop_hook") || (text.contains("/.claude/") && !text.contains("/.claude/memory/"))
    };
    !Lab::files(&lab.project).iter().any(|(path, _)| is_odd(path))
}
