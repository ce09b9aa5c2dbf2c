//! A root: a folder that paths cannot leave.
//!
//! Comes in: a root folder and paths of any origin. Goes out: absolute paths that lie below the root after every link and
//! `..` is resolved, or a refusal. Never here: creating or opening anything.

use heirloom_core::{Code, Fault, fault::Result};
use std::path::{Component, Path, PathBuf};

/// A folder and its real place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    folder: PathBuf,
    real: PathBuf,
}

impl Root {
    /// The root at an absolute path; it need not exist yet.
    pub fn new(folder: &Path) -> Root {
        Root { folder: folder.to_owned(), real: real_path(folder) }
    }

    /// The folder as it was named.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder with links resolved.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// A path of ours below the root: plain parts only, so that nothing needs resolving.
    pub fn join(&self, parts: &[&str]) -> PathBuf {
        let mut path = self.folder.clone();
        path.extend(parts);
        path
    }

    /// The path below the root that `path` (absolute) names.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf> {
        let refused = || {
            Fault::new(Code::Path, format!("`{}` is not below the memory folder", path.display()))
                .fact("target", path.display().to_string())
                .hint(format!("Target must be within the memory directory ({})", self.folder.display()))
        };
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(refused());
        }
        let real = real_path(path);
        if real != self.real && real.starts_with(&self.real) { Ok(real) } else { Err(refused()) }
    }
}

/// Where a path really leads: links resolved as far as it exists, `.` and `..` taken out of the rest.
///
/// `..` is applied after links are resolved, like the system does, so `link/..` leads to where the link points.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    // What is all there the system resolves in one go.
    if path.is_absolute()
        && let Ok(real) = std::fs::canonicalize(path)
    {
        return real;
    }
    let (mut real, mut missing) = (PathBuf::from("/"), false);
    let parts: Vec<Component<'_>> = path.components().collect();
    let mut rest = parts.as_slice();
    // Mostly only the last part is not there; then what it lies in is resolved in one go, too.
    if let ([.., last @ Component::Normal(_)], Some(parent)) = (rest, path.parent())
        && path.is_absolute()
        && let Ok(parent) = std::fs::canonicalize(parent)
    {
        real = parent;
        rest = std::slice::from_ref(last);
    }
    for part in rest {
        match part {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => {
                real.push(name);
                if !missing {
                    match std::fs::canonicalize(&real) {
                        Ok(resolved) => real = resolved,
                        // A link to nowhere is followed too: whoever writes there must see where it leads.
                        Err(_) => match std::fs::read_link(&real) {
                            Ok(target) => {
                                real.pop();
                                real = plain(&real.join(target));
                                missing = true;
                            }
                            Err(_) => missing = true,
                        },
                    }
                }
            }
        }
    }
    real
}

fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(name) => out.push(name),
            _ => {}
        }
    }
    out
}
