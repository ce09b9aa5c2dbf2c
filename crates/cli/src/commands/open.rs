//! `open`: the page, for the person at this terminal.
//!
//! Comes in: a project and a person. Goes out: a link that works once, printed and handed to the browser through a file that only this account can
//! read: an argument would be seen by every account. Never here: a page without a person.

use super::doctor;
use crate::args::{self, Args};
use crate::desk::Office;
use crate::environment;
use crate::output::Out;
use crate::person;
use crate::wiring::{self, random, world};
use heirloom_agents::table::AGENTS;
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_server::page::{self, Agent, Options, Secrets};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Digits of the page's name.
const NAME: usize = 16;
/// What opens a file in the user's browser, on the systems there are.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

pub(crate) fn run(args: &Args, call: &args::Open, out: &Out) -> Result<u8> {
    if !person::is_present() {
        return Err(Fault::new(
            Code::NeedsPerson,
            "the page counts as you, so a person at a terminal opens it",
        )
        .hint("run `heirloom open` yourself, in a terminal of your own"));
    }
    let project = wiring::project_folder(&wiring::cwd(args)?);
    let folder = world().data.join("server");
    files::make_folder(&folder, Mode::Private)?;
    let host = format!("{}.localhost", &hex(&random()?)[..NAME]);
    let file = folder.join(format!("open-{host}.html"));
    let options = Options {
        project,
        host,
        secrets: Secrets { link: hex(&random()?), cookie: hex(&random()?), form: hex(&random()?) },
        examine: Arc::new(|folder: &Path| doctor::examined(folder)),
        agents: AGENTS
            .iter()
            .map(|agent| Agent { name: agent.name.to_owned(), most: agent.context_max })
            .collect(),
    };
    let _file = Passing(file.clone());
    page::open(Office::of_person(args)?, options, |link| {
        files::write(&file, redirect(link).as_bytes(), Mode::Private)?;
        out.answer(&json!({ "link": link, "file": file }), || {
            out.line(link);
            out.say("the link works once, in one browser; Ctrl-C ends the page");
        });
        if !call.print {
            start_browser(&file, out);
        }
        Ok(())
    })?;
    Ok(exit::OK)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A page that goes on to the link. A link holds nothing that HTML reads in another way.
fn redirect(link: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>Heirloom</title>\
         <meta http-equiv=\"refresh\" content=\"0;url={link}\"><p><a href=\"{link}\">Open Heirloom</a></p></html>\n"
    )
}

fn start_browser(file: &Path, out: &Out) {
    let opener = OPENERS.iter().find_map(|name| environment::find_program(name));
    let started = opener.map(|program| {
        Command::new(program)
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    });
    if !matches!(started, Some(Ok(_))) {
        out.say("no browser could be started; open the link yourself");
    }
}

/// A file that goes away however this ends.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = files::remove(&self.0);
    }
}
