//! Users and their tokens, for whoever looks after them.
//!
//! Comes in: what `user list` knows. Goes out: a screen; a token that was just made is on it once and nowhere else. Never here: who may make one.

use super::layout::Screen;
use super::{Asked, parts};
use heirloom_core::caller::GRANTS;
use heirloom_core::{Verb, fault::Result};
use heirloom_engine::verbs::invite::Invited;
use heirloom_engine::verbs::users::{MadeToken, UserShown, list};
use maud::{Markup, html};

pub(crate) fn screen(asked: &Asked<'_>) -> Result<Screen> {
    let users = list(asked.call)?;
    let body = html! {
        @if users.is_empty() { (parts::empty("You are the only user. Each user has their own turns and facts, and a token to reach them.", "heirloom user add NAME")) }
        @for user in &users { (one(asked, user)) }
        section {
            h2 { "Add a user" }
            form.bar method="post" action="/do/user" {
                (parts::carried(asked, Verb::UserAdd))
                label { "Name " input name="user" required maxlength="64"; }
                button { "Add" }
            }
        }
    };
    Ok(Screen::new("Users and tokens", "/users", body))
}

fn one(asked: &Asked<'_>, user: &UserShown) -> Markup {
    html! {
        section.item data-item {
            div.grow {
                h2 { (user.user) }
                p.meta { "since " (parts::at(&user.added_at)) }
                @if !user.tokens.is_empty() {
                    div.wide tabindex="0" role="region" aria-label=(format!("tokens of {}", user.user)) {
                        table {
                            caption.hidden { "Tokens of " (user.user) }
                            thead { tr { th scope="col" { "Token" } th scope="col" { "May" } th scope="col" { "Made" } th scope="col" { "Ends" } th scope="col" { "Used" } td {} } }
                            tbody { @for token in &user.tokens {
                                tr {
                                    td { code { (token.id) } " " (token.name) } td { (token.scopes) } td { (parts::at(&token.added_at)) }
                                    td { @if let Some(at) = &token.expires_at { (parts::at(at)) } @else { "never" } } td { @if let Some(at) = &token.used_at { (parts::at(at)) } @else { "not yet" } }
                                    td { form.inline method="post" action="/do/revoke" { (parts::carried(asked, Verb::UserToken)) input type="hidden" name="user" value=(user.user); input type="hidden" name="name" value=(token.name); button.quiet { "Revoke" span.hidden { " " (token.id) } } } }
                                }
                            } }
                        }
                    }
                }
                @if !user.tokens.is_empty() {
                    details {
                        summary { "Invite to the page of a server" }
                        p.dim { "The link works once, for a day. The person who opens it signs in with a token of this user and sets the PIN that makes them a person there." }
                        form.bar method="post" action="/do/invite" {
                            (parts::carried(asked, Verb::UserInvite))
                            input type="hidden" name="user" value=(user.user);
                            @if !asked.page.seat.is_guest() { label { "Server " input name="server" required placeholder="https://memory.example.org"; } }
                            button { "Make a link" }
                        }
                    }
                }
                details {
                    summary { "Make a token" }
                    form.bar method="post" action="/do/token" {
                        (parts::carried(asked, Verb::UserToken))
                        input type="hidden" name="user" value=(user.user);
                        label { "Name " input name="name" maxlength="64" placeholder="usual"; }
                        label { "Days " input type="number" name="days" min="1" max="3650" placeholder="for good"; }
                        fieldset { legend { "It may" } @for grant in GRANTS { label.check { input type="checkbox" name="scope" value=(grant.name()) checked[matches!(grant.name(), "read" | "write")]; " " (grant.name()) } } }
                        button { "Make it" }
                    }
                }
            }
        }
    }
}

/// A link, once.
pub(crate) fn invited(made: &Invited) -> Screen {
    let body = html! {
        p { "This link is for " strong { (made.user) } ". It works once, until " (parts::at(&made.expires_at)) ", and is stored nowhere but as a hash." }
        p.command { code { (made.link) } button.quiet type="button" data-copy=(made.link) { "Copy" } }
        p { a href="/users" { "Back to the users" } }
    };
    Screen::new("An invitation", "/users", body)
}

/// A token, once.
pub(crate) fn made(token: &MadeToken) -> Screen {
    let body = html! {
        p { "This is the token of " strong { (token.user) } ". It is shown once and stored nowhere but as a hash." }
        p.command { code { (token.token) } button.quiet type="button" data-copy=(token.token) { "Copy" } }
        p { a href="/users" { "Back to the users" } }
    };
    Screen::new("A new token", "/users", body)
}
