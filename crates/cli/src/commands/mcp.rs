//! `mcp`: the memory for one agent, over the standard streams.

use crate::args::{self, Args};
use crate::desk::Office;
use crate::{environment, wiring};
use heirloom_core::code::exit;
use heirloom_core::fault::Result;
use heirloom_server::mcp::{self, Options};

pub(crate) fn run(args: &Args, call: &args::Mcp) -> Result<u8> {
    let started_in = wiring::cwd(args)?;
    let project = args.project.as_ref().map(|_| started_in.clone()).or_else(environment::project);
    let options = Options { project, started_in, agent: call.agent.clone() };
    mcp::run(Office::open(args)?, options, std::io::stdin(), std::io::stdout())?;
    Ok(exit::OK)
}
