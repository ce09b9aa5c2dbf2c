//! Which project a request over HTTP is about, and for whom.
//!
//! Comes in: a token's visitor and the id of a project. Goes out: a call. Files are served to tokens of the account that runs the server and to
//! nobody else: to a stranger a project is as if it were not there. A project is named by its id, never by a path. Never here: what a call is used
//! for.

use crate::desk::{Desk, Place, Visitor};
use crate::told;
use heirloom_core::{Code, Fault, Who, fault::Result};
use heirloom_engine::Call;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// What the HTTP door puts beside a request: who asks, and for which project.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) who: Visitor,
    pub(crate) project: Option<String>,
}

/// A project that is served.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) memory: PathBuf,
}

/// The desk and the projects that lie on it.
pub(crate) struct Counter {
    pub(crate) desk: Arc<dyn Desk>,
    projects: Vec<Served>,
}

impl Counter {
    /// A counter for these folders.
    pub(crate) fn open(desk: Arc<dyn Desk>, folders: &[PathBuf]) -> Result<Counter> {
        let mut projects = Vec::new();
        for folder in folders {
            let call = desk.call(&Place::Folder(folder.clone()), &Visitor::default())?;
            let about = told::project(call.project());
            let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
            projects.push(Served {
                id: text("id"),
                name: text("name"),
                folder: call.project().folder().to_owned(),
                memory: call.project().root().folder().to_owned(),
            });
        }
        Ok(Counter { desk, projects })
    }

    pub(crate) fn projects(&self) -> &[Served] {
        &self.projects
    }

    /// A call for a visitor about the project of this id; about the only one, or none, without an id.
    pub(crate) fn call(&self, who: &Visitor, project: Option<&str>) -> Result<Call> {
        let wanted = match project {
            Some(id) => self.projects.iter().find(|served| served.id == id),
            None if self.projects.len() == 1 => self.projects.first(),
            None => None,
        };
        if let Some(served) = wanted {
            let call = self.desk.call(&Place::Folder(served.folder.clone()), who)?;
            if is_own(&call) {
                return Ok(call);
            }
        }
        let call = self.desk.call(&Place::Nowhere, who)?;
        match project {
            Some("none") => Ok(call),
            Some(_) => Err(Fault::new(Code::NotFound, "this server has no project with this id for you")
                .hint("GET /v1/projects lists the ones it has")),
            None if is_own(&call) && self.projects.len() > 1 => {
                let names: Vec<String> =
                    self.projects.iter().map(|served| format!("{} ({})", served.id, served.name)).collect();
                Err(Fault::new(
                    Code::Ambiguous,
                    format!("this server serves {} projects: {}", names.len(), names.join(", ")),
                )
                .hint("name one: ?project=ID, or ?project=none for turns and facts only"))
            }
            None => Ok(call),
        }
    }

    /// The projects of a visitor.
    pub(crate) fn list(&self, who: &Visitor) -> Result<Value> {
        let own = is_own(&self.desk.call(&Place::Nowhere, who)?);
        let shown: Vec<Value> = self
            .projects
            .iter()
            .filter(|_| own)
            .map(|served| json!({ "id": served.id, "name": served.name }))
            .collect();
        Ok(json!({ "projects": shown }))
    }
}

/// Whether the account that runs this process asks, by itself or by a token.
fn is_own(call: &Call) -> bool {
    let account = &call.project().world().user;
    match call.caller().who() {
        Who::Account(user) | Who::Token { user, .. } => user == account,
        Who::Nobody => false,
    }
}
