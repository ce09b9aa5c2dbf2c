//! `completions`, `man`, `merge-driver`: for shells, manuals and git.

use crate::args::{Args, Completions, Man, MergeDriver};
use crate::output::Out;
use clap::CommandFactory as _;
use heirloom_core::code::exit;
use heirloom_core::{Fault, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_engine::shelf::records::merge_index;

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
                .map_err(|e| Fault::new(heirloom_core::Code::Io, format!("cannot render the manual: {e}")))?;
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

/// Git gives the base, ours (which takes the result) and theirs.
pub(crate) fn merge_driver(call: &MergeDriver) -> Result<u8> {
    const MAX: u64 = 64 << 20;
    let text = |path| files::read_text(path, MAX).map(Option::unwrap_or_default);
    let merged = merge_index(&text(&call.base)?, &text(&call.ours)?, &text(&call.theirs)?);
    files::write(&call.ours, merged.as_bytes(), Mode::Shared)?;
    Ok(exit::OK)
}
