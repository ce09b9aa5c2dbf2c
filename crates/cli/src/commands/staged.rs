//! `verify --staged`: the memory as the next commit will have it, for the pre-commit hook.
//!
//! Comes in: where git keeps its index. Goes out: what is wrong with the memory files in it. Never here: the work tree's own files, or a change to
//! anything but a folder that goes away again.

use super::visible;
use crate::args::Args;
use crate::output::Out;
use crate::{environment, wiring};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::verbs::staged::{self, Staged};
use std::path::PathBuf;

/// A folder that goes away however this ends.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn verify(args: &Args, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let name = format!("heirloom-staged-{}", &wired.call.project().world().nonce[..12]);
    let passing = Temporary(environment::private_temp().join(name));
    let (folder, root) = (passing.0.clone(), passing.0.join(wiring::DEFAULT_ROOT));
    let index = environment::text("GIT_INDEX_FILE").map(PathBuf::from);
    let found = match staged::lay_out(&wired.call, index.as_deref(), &folder, &root)? {
        0 => Staged::nothing(),
        files => {
            let laid_out = wiring::wire_at(args, &folder, Some(&root), folder.clone())?;
            staged::check(&laid_out.call, files)?
        }
    };
    out.answer(&found, || print(out, &found));
    Ok(if found.ok { exit::OK } else { exit::REFUSED })
}

fn print(out: &Out, found: &Staged) {
    let shown = |text: &str| visible(&one_line(text));
    if found.files == 0 {
        out.line("no memory file is staged");
    } else if found.ok {
        out.line(out.style.green("no problems in what is staged"));
    }
    for problem in &found.problems {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        let (file, message) = (shown(&problem.file), shown(&problem.message));
        out.line(format!("{}{line}: {message} [{}]", out.style.bold(&file), problem.code));
        out.line(format!("  {}", out.style.dim(&shown(&problem.fix))));
    }
}
