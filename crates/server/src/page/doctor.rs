//! Doctor: every link of the chain from agent to memory, each with its fix.
//!
//! Comes in: the verb's checks and what the program found on this machine. Goes out: a screen. Never here: a repair.

use super::layout::Screen;
use super::{Asked, parts};
use heirloom_core::fault::Result;
use heirloom_engine::verbs::doctor::{Doctor, State, doctor};
use maud::html;

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let machine = (asked.page.examine)(asked.call.project().folder());
    let found = doctor(asked.call, &Doctor { machine: Some(machine) })?;
    let body = html! {
        p.calm { @if found.ok { "Nothing is broken." } @else { "Something is broken." } }
        ul.checks {
            @for check in &found.checks {
                li data-item {
                    @match check.state {
                        State::Good => { span.state.good { "good" } }
                        State::Warning => { span.state.warn { "warning" } }
                        State::Broken => { span.state.bad { "broken" } }
                    }
                    div.grow {
                        strong { (check.id) } " " (parts::ticked(&check.detail))
                        @if !check.fix.is_empty() { p.dim { (parts::ticked(&check.fix)) @if let Some(command) = parts::command_in(&check.fix) { " " button.quiet type="button" data-copy=(command) { "Copy" } } } }
                    }
                }
            }
        }
        p { a href="/doctor" { "Check again" } }
    };
    Ok(Screen::new("Doctor", "/doctor", body))
}
