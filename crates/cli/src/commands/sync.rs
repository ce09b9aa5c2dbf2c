//! `sync`: what would move between here and the external memory, then moving it.

use super::visible;
use crate::args::{Args, Sync};
use crate::output::Out;
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_core::text::one_line;
use heirloom_engine::shelf::topics::Plan;
use heirloom_engine::verbs::sync;

pub(crate) fn run(args: &Args, call: &Sync, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    let synced = sync::sync(&wired.call, &sync::Sync { apply: call.apply })?;
    out.answer(&synced, || {
        print(out, &synced.plan);
        if !call.apply && !synced.plan.is_empty() {
            out.say("nothing was moved; `heirloom sync --apply` does this");
        }
        for line in &synced.done {
            out.line(format!("{} {}", out.style.green("done"), visible(&one_line(line))));
        }
    });
    Ok(exit::OK)
}

fn print(out: &Out, plan: &Plan) {
    let shown = |text: &str| visible(&one_line(text));
    out.line(format!("{}  {}", out.style.bold("external memory"), shown(&plan.folder)));
    if let Some(remote) = &plan.remote {
        out.line(format!("{}  {}", out.style.bold("remote"), shown(remote)));
    }
    if plan.is_empty() {
        out.line(out.style.green("nothing to move"));
        return;
    }
    let group = |head: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out.line(out.style.bold(head));
            lines.iter().for_each(|line| out.line(format!("  {}", shown(line))));
        }
    };
    group("move here from the project", plan.bring.clone());
    group("commit", plan.commit.iter().map(|file| format!("{} {}", file.what, file.path)).collect());
    group("pull", plan.pull.clone());
    group("push", plan.push.clone());
}
