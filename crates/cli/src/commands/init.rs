//! `init`: prepare a project.

use crate::args::{Args, Init};
use crate::output::Out;
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_engine::verbs::init;

pub(crate) fn run(args: &Args, call: &Init, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    let steps = init::init(&wired.call, init::Init { pre_commit: call.pre_commit, dry_run: call.dry_run })?;
    out.answer(&steps, || {
        for one in &steps {
            let mark = match (one.done, call.dry_run) {
                (true, true) => out.style.yellow("would create"),
                (true, false) => out.style.green("created"),
                (false, _) => out.style.dim("exists"),
            };
            out.line(format!("{mark} {}: {}", one.what, one.path));
        }
        if !call.dry_run {
            out.say("\nnext, save something and ask for it:");
            out.say("  heirloom add decision \"Use PostgreSQL because we need jsonb\"");
            out.say("  heirloom recall \"which database?\"");
            out.say("then `heirloom setup` connects your coding agents");
        }
    });
    Ok(exit::OK)
}
