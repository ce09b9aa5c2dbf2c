//! Which project a client means that was told none: its one root, or the folder the server was started in.
//!
//! Comes in: the roots a client has. Goes out: a place. Several roots are no answer: whoever guesses writes into another window's project. They are
//! asked for once, and again when the client says that they changed. Never here: a project chosen by a model.

use crate::desk::Place;
use crate::uri;
use heirloom_core::{Code, Fault, fault::Result};
use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a client may take to say its roots.
const PATIENCE: Duration = Duration::from_secs(2);

/// The roots of a client, as far as they are known.
#[derive(Debug)]
pub(crate) struct Roots {
    fallback: PathBuf,
    known: Mutex<Option<Result<Place>>>,
}

impl Roots {
    /// Roots that nobody has asked for yet.
    pub(crate) fn new(fallback: PathBuf) -> Roots {
        Roots { fallback, known: Mutex::default() }
    }

    /// Forgets what was known.
    pub(crate) fn changed(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The place the client means.
    pub(crate) async fn place(&self, context: &RequestContext<RoleServer>) -> Result<Place> {
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            return known;
        }
        let Some(uris) = asked(context).await else { return Ok(Place::Folder(self.fallback.clone())) };
        let place = chosen(&uris, &self.fallback);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(place.clone());
        place
    }
}

/// The client's roots; `None` if it has none to tell.
#[allow(deprecated, reason = "hosts of the older revisions still say their project this way and no other")]
async fn asked(context: &RequestContext<RoleServer>) -> Option<Vec<String>> {
    context.client_capabilities()?.roots?;
    // The stateless revisions know no question from the server.
    if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
        return None;
    }
    let answer = tokio::time::timeout(PATIENCE, context.peer.list_roots()).await.ok()?.ok()?;
    Some(answer.roots.into_iter().map(|root| root.uri).collect())
}

/// The place that roots name.
fn chosen(uris: &[String], fallback: &std::path::Path) -> Result<Place> {
    let mut folders: Vec<PathBuf> = uris.iter().filter_map(|uri| folder(uri)).collect();
    folders.sort();
    folders.dedup();
    match folders.len() {
        0 => Ok(Place::Folder(fallback.to_owned())),
        1 => Ok(Place::Folder(folders.remove(0))),
        _ => {
            let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
            Err(Fault::new(
                Code::Ambiguous,
                format!("this window has {} roots: {}", names.len(), names.join(", ")),
            )
            .hint("set the server up for one of them: `heirloom mcp --project FOLDER`"))
        }
    }
}

/// The folder of a `file://` address.
fn folder(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = PathBuf::from(uri::decoded(path)?);
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn chosen_of(uris: &[&str]) -> Result<Place> {
        chosen(&uris.iter().map(|uri| (*uri).to_owned()).collect::<Vec<_>>(), Path::new("/started/here"))
    }

    #[test]
    fn one_root_is_the_project_and_no_root_is_the_folder_it_was_started_in() {
        assert_eq!(chosen_of(&["file:///a/b%20c"]), Ok(Place::Folder("/a/b c".into())));
        assert_eq!(chosen_of(&["file:///a", "file:///a"]), Ok(Place::Folder("/a".into())));
        assert_eq!(chosen_of(&["file://localhost/a"]), Ok(Place::Folder("/a".into())));
        for none in [&[][..], &["https://example.org"], &["file:relative"]] {
            assert_eq!(chosen_of(none), Ok(Place::Folder("/started/here".into())));
        }
    }

    #[test]
    fn several_roots_are_refused_with_the_list() {
        let fault = chosen_of(&["file:///b", "file:///a"]).unwrap_err();
        assert_eq!(fault.code, Code::Ambiguous);
        assert!(fault.message.contains("/a, /b"), "{fault}");
        assert!(fault.next_step().contains("--project"));
    }
}
