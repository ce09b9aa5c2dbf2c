//! The path of a note that is a file of the memory tool: `/memories/…`.
//!
//! Comes in: a path as somebody wrote it. Goes out: the path in its plain form, or a refusal. A path is a name, never a place on the disk: the note
//! lies in `notes/` under its id like any other. Never here: looking anything up.

use heirloom_core::text::is_invisible;
use heirloom_core::{Code, Fault, fault::Result};

/// Where every path begins.
pub const ROOT: &str = "/memories";

/// Folders that show the shelves. Nobody can write there.
pub const SHELVES: [&str; 5] = ["facts", "lessons", "notes", "records", "vault"];

/// The longest path, and the longest name in it, in bytes: what file systems take, so that an export can become files.
const PATH_MAX: usize = 1_024;
const NAME_MAX: usize = 255;

/// The names below [`ROOT`] that a path goes through; none for the root itself.
///
/// Doubled and trailing slashes and `.` count for nothing, as on a disk. What would lead elsewhere on one is refused in whatever spelling.
pub fn names(path: &str) -> Result<Vec<&str>> {
    let below = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let below =
        below.ok_or_else(|| refused(format!("Path must start with /memories, got: {}", shown(path))))?;
    if path.len() > PATH_MAX {
        return Err(refused(format!("The path is too long: at most {PATH_MAX} bytes are kept"))
            .hint("use shorter names"));
    }
    if path.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Err(refused("The path contains characters that cannot be seen".to_owned())
            .hint("use letters, digits, spaces and punctuation"));
    }
    if leads_up(below) {
        return Err(refused(format!("Path {path} would escape /memories directory")));
    }
    let names: Vec<&str> = below.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    if names.iter().any(|name| name.len() > NAME_MAX) {
        return Err(refused(format!("A name in the path is too long: at most {NAME_MAX} bytes are kept"))
            .hint("use shorter names"));
    }
    Ok(names)
}

/// The plain form of the path of a file, which cannot be one of the folders that show the shelves.
pub fn file(path: &str) -> Result<String> {
    let names = names(path)?;
    match names.first() {
        None => Err(refused(format!("{ROOT} is a directory"))),
        Some(first) if SHELVES.contains(first) => Err(read_only(path, first)),
        Some(_) => Ok(plain(&names)),
    }
}

/// The path of these names.
pub fn plain(names: &[&str]) -> String {
    names.iter().fold(ROOT.to_owned(), |path, name| path + "/" + name)
}

/// The refusal of a write into a folder that shows a shelf.
pub fn read_only(path: &str, shelf: &str) -> Fault {
    Fault::new(
        Code::Validation,
        format!("The path {path} cannot be written: {ROOT}/{shelf} is a read-only view of stored memories."),
    )
    .hint(format!(
        "write to another folder, such as {ROOT}/files; those that only show memories are {}",
        SHELVES.join(", ")
    ))
}

fn refused(message: String) -> Fault {
    Fault::new(Code::Path, message).hint("name a path below /memories, such as /memories/notes.md")
}

/// A path that begins elsewhere may be anything: its start is enough, without what cannot be seen.
fn shown(path: &str) -> String {
    path.chars().filter(|c| !c.is_control() && !is_invisible(*c)).take(PATH_MAX).collect()
}

/// Whether a part of the path is `..`, also with backslashes or percent signs. Decoded as long as that changes something, so that `%252e` is no way out.
fn leads_up(path: &str) -> bool {
    let mut text = path.to_ascii_lowercase();
    for _ in 0..4 {
        if text.contains('\0') || text.split(['/', '\\']).any(|name| name == "..") {
            return true;
        }
        let next = [("%2e", "."), ("%2f", "/"), ("%5c", "\\"), ("%00", "\0"), ("%25", "%")]
            .iter()
            .fold(text.clone(), |text, (code, plain)| text.replace(code, plain));
        if next == text {
            return false;
        }
        text = next;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_plain_form() {
        for (path, plain) in [
            ("/memories/a.txt", "/memories/a.txt"),
            ("/memories//a.txt", "/memories/a.txt"),
            ("/memories/./a/b.txt/", "/memories/a/b.txt"),
            ("/memories/with space/ümlaut.md", "/memories/with space/ümlaut.md"),
            ("/memories/..hidden", "/memories/..hidden"),
            ("/memories/a..b/100%", "/memories/a..b/100%"),
            ("/memories/notes.md", "/memories/notes.md"),
        ] {
            assert_eq!(file(path).unwrap(), plain);
            assert_eq!(file(plain).unwrap(), plain);
        }
        assert!(names("/memories").unwrap().is_empty() && names("/memories/").unwrap().is_empty());
    }

    #[test]
    fn what_leads_elsewhere_in_any_spelling_is_refused() {
        let long = format!("/memories/{}", "a".repeat(256));
        let longer = format!("/memories/{}", "a/".repeat(600));
        for path in [
            "",
            "memories/a",
            "/etc/passwd",
            "/memoriesfoo",
            "/memories2/a",
            "/Memories/a",
            "/memories/..",
            "/memories/../etc/passwd",
            "/memories/a/../b",
            "/memories/a/..",
            "/memories/%2e%2e/etc",
            "/memories/%2E./etc",
            "/memories/%252e%252e/etc",
            "/memories/..%2fetc",
            "/memories/..\\etc",
            "/memories/..%5cetc",
            "/memories/%25252525252e%2e/x",
            "/memories/a\0b",
            "/memories/a%00b",
            "/memories/a\nb",
            "/memories/a\u{200b}b",
            "/memories/a\u{202e}txt",
            &long,
            &longer,
        ] {
            assert_eq!(file(path).unwrap_err().code, Code::Path, "{path:?}");
        }
    }

    #[test]
    fn the_folders_that_show_shelves_take_no_file() {
        for shelf in SHELVES {
            for path in [format!("/memories/{shelf}"), format!("/memories//{shelf}/a.md")] {
                let fault = file(&path).unwrap_err();
                assert!(fault.code == Code::Validation && fault.message.contains("read-only"), "{path}");
            }
            assert!(file(&format!("/memories/my-{shelf}/a.md")).is_ok());
        }
    }
}
