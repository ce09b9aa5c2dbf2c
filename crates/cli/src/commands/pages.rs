//! `completions`, `man`: for shells and manuals.

use crate::args::{Args, Completions, Man};
use crate::output::Out;
use clap::CommandFactory as _;
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::files::{self, Mode};

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
