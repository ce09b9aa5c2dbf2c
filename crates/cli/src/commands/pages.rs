//! `completions`, `man`, `merge-driver`: for shells, manuals and git.

use crate::args::{Args, Completions, Man, MergeDriver};
use crate::output::Out;
use clap::CommandFactory as _;
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::shelf::merge;

pub(crate) fn completions(call: &Completions, out: &Out) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(call.shell, &mut Args::command(), "heirloom", &mut script);
    out.raw(&script);
    Ok(exit::OK)
}

pub(crate) fn man(call: &Man, out: &Out) -> Result<u8> {
    match &call.folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Args::command())
                .render(&mut page)
                .map_err(|e| Fault::new(Code::Io, format!("cannot render the manual: {e}")))?;
            out.raw(&page);
        }
        Some(folder) => {
            files::make_folder(folder, Mode::Shared)?;
            clap_mangen::generate_to(Args::command(), folder)
                .map_err(|e| Fault::io(folder, "write to", &e))?;
            out.say(format!("manual pages written to `{}`", folder.display()));
        }
    }
    Ok(exit::OK)
}

/// Git gives the base, ours (which takes the result), theirs and the file's own path.
pub(crate) fn merge_driver(call: &MergeDriver) -> Result<u8> {
    const MAX: u64 = 64 << 20;
    // Git names them from the top of the work tree, where it starts us.
    let here = crate::environment::current_folder()
        .map_err(|e| Fault::new(Code::Io, format!("the current folder cannot be found: {e}")))?;
    let bytes =
        |path: &std::path::Path| files::read_if_there(&here.join(path), MAX).map(Option::unwrap_or_default);
    let (base, ours, theirs) = (bytes(&call.base)?, bytes(&call.ours)?, bytes(&call.theirs)?);
    let merged = merge(call.path.as_deref(), &base, &ours, &theirs)?;
    files::write(&here.join(&call.ours), &merged, Mode::Shared)?;
    Ok(exit::OK)
}
