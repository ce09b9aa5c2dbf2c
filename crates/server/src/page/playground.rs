//! Playground: the block an agent would get for a prompt, how full it is, and what is not in it.
//!
//! Comes in: a prompt, an agent, settings to try. Goes out: the exact block of `recall` and, where something is tried, the one it would become, side
//! by side. Nothing is stored or noted. Never here: a block made in another way than the hook's.

use super::layout::{self, Screen};
use super::{Asked, parts};
use crate::desk::Trial;
use heirloom_core::fault::Result;
use heirloom_engine::verbs::recall::{Recall, Tried, is_hybrid, tried};
use maud::{Markup, html};

/// Settings that can be tried: name in the form, key, what it is called.
const TRIED: [(&str, &str, &str); 3] = [
    ("strategy", "retrieval.match_strategy", "Strategy"),
    ("inject", "retrieval.max_inject", "Most memories"),
    ("tokens", "retrieval.max_tokens", "Most tokens"),
];

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let form = asked.form;
    let prompt = form.text("prompt").unwrap_or_default();
    let agent = form.said("agent");
    let most = asked.page.agents.iter().find(|one| Some(&one.name) == agent.as_ref()).map(|one| one.most);
    let ask = Recall { prompt: prompt.to_owned(), session: None, most };
    let settings: Vec<(String, String)> =
        TRIED.iter().filter_map(|(name, key, _)| Some(((*key).to_owned(), form.said(name)?))).collect();
    let (now, other) = match prompt.trim().is_empty() {
        true => (None, None),
        false => {
            let now = tried(&asked.tried(&Trial { agent: agent.clone(), settings: Vec::new() })?, &ask)?;
            let other = (!settings.is_empty()).then(|| {
                asked.tried(&Trial { agent: agent.clone(), settings }).and_then(|call| tried(&call, &ask))
            });
            (Some(now), other)
        }
    };
    let retrieval = &asked.call.settings().retrieval;
    let strategy = if is_hybrid(asked.call) { "hybrid" } else { "title_tags" };
    let body = html! {
        form.play action="/playground" {
            label { "Prompt" textarea name="prompt" rows="3" required placeholder="What would you ask an agent?" { "\n" (prompt) } }
            div.row {
                label { "Agent" select name="agent" {
                    option value="" { "any" }
                    @for one in &asked.page.agents { option value=(one.name) selected[agent.as_ref() == Some(&one.name)] { (one.name) } }
                } }
                label { "Try strategy" select name="strategy" {
                    option value="" { "as set (" (strategy) ")" }
                    @for one in ["hybrid", "title_tags"] { option selected[form.text("strategy") == Some(one)] { (one) } }
                } }
                label { "Try most memories" input type="number" name="inject" min="0" max="50" placeholder=(retrieval.max_inject) value=(form.text("inject").unwrap_or_default()); }
                label { "Try most tokens" input type="number" name="tokens" min="0" max="100000" placeholder=(retrieval.max_tokens) value=(form.text("tokens").unwrap_or_default()); }
                button { "Show" }
            }
        }
        @match (&now, &other) {
            (None, _) => { (parts::empty("Type a prompt to see exactly what an agent would get for it, and what it would not.", "heirloom recall \"which database do we use?\" --explain")) }
            (Some(now), None) => { (answer("What the agent gets", now)) }
            (Some(now), Some(Ok(other))) => { div.side { (answer("With your settings", now)) (answer("With these values", other)) } }
            (Some(now), Some(Err(fault))) => { div.side { (answer("With your settings", now)) section { h2 { "With these values" } (layout::fault(fault)) } } }
        }
    };
    Ok(Screen::new("Playground", "/playground", body))
}

fn answer(title: &str, tried: &Tried) -> Markup {
    let chars = tried.answer.block.chars().count();
    html! {
        section.block {
            h2 { (title) }
            (fill("tokens", tried.tokens, tried.most_tokens))
            (fill("characters", chars, tried.most_chars))
            (fill("memories", tried.answer.hits.len(), tried.most_memories))
            @if tried.answer.block.is_empty() { p.empty { "Nothing: no memory is close enough to this prompt." } }
            @else { pre.given tabindex="0" aria-label="the block" { (tried.answer.block) } }
            @if !tried.answer.hits.is_empty() {
                h3 { "In it" }
                ul.lines { @for hit in &tried.answer.hits { li data-item { (parts::line(&hit.memory)) " " (parts::why(hit.score, &hit.why)) } } }
            }
            h3 { "Left out" }
            @if tried.left_out.is_empty() { p.dim { "Nothing that was ranked." } }
            ul.lines { @for one in &tried.left_out { li data-item { (parts::line(&one.hit.memory)) " " (parts::why(one.hit.score, &one.hit.why)) span.meta { (one.reason) } } } }
        }
    }
}

/// How full a budget is.
fn fill(what: &str, used: usize, most: usize) -> Markup {
    let percent = (used * 100).checked_div(most).unwrap_or(0).min(100);
    html! {
        p.fill {
            span { (used) " of " (most) " " (what) }
            svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=(format!("{percent} % of the {what} are used")) { rect.room x="0" y="0" width="100" height="6" {} rect x="0" y="0" width=(percent) height="6" {} }
        }
    }
}
