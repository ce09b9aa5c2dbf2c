//! `last`: what the latest hook runs saw, gave or kept, and why.

use super::visible;
use crate::args::{Args, Last};
use crate::output::Out;
use crate::wiring;
use heirloom_agents::Moment;
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::trail::{self, Ended, Run};

pub(crate) fn run(args: &Args, call: &Last, out: &Out) -> Result<u8> {
    if let Some(name) = call.hook.as_deref().filter(|name| Moment::named(name).is_none()) {
        let known: Vec<&str> = Moment::ALL.iter().map(|moment| moment.name()).collect();
        return Err(Fault::new(Code::Usage, format!("there is no hook `{name}`"))
            .hint(format!("hooks: {}", known.join(", "))));
    }
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    let runs = trail::last(&wired.call, &trail::Last { hook: call.hook.clone(), limit: call.limit })?;
    out.answer(&runs, || {
        if runs.is_empty() {
            out.say(
                "no hook has run here yet; `heirloom setup` installs hooks, `heirloom doctor` checks them",
            );
        }
        runs.iter().for_each(|run| print(out, run));
    });
    Ok(exit::OK)
}

fn print(out: &Out, run: &Run) {
    let text = |text: &str| visible(&one_line(text));
    let ended = match run.ended {
        Ended::Silent => out.style.dim("silent"),
        Ended::Injected => out.style.green("injected"),
        Ended::Captured => out.style.green("captured"),
        Ended::Held => out.style.yellow("held"),
        Ended::Asked => out.style.green("asked"),
        Ended::Saved => out.style.green("saved"),
        Ended::Ignored => out.style.dim("ignored"),
        Ended::Denied => out.style.yellow("denied"),
        Ended::Failed => out.style.red("failed"),
    };
    let saw = if run.saw.is_empty() { String::new() } else { format!(": {}", text(&run.saw)) };
    let took = format!("{}.{:01} ms", run.micros / 1000, run.micros % 1000 / 100);
    out.line(format!(
        "{} {} {} ({}){saw} {}",
        out.style.dim(&text(&run.at)),
        out.style.bold(&text(&run.hook)),
        ended,
        text(&run.agent),
        out.style.dim(&took)
    ));
    run.because.iter().for_each(|line| out.line(format!("  {}", text(line))));
    run.left_out.iter().for_each(|line| out.line(format!("  left out: {}", text(line))));
}
