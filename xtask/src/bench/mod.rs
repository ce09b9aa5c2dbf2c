//! x
pub(crate) mod vault { pub(crate) fn run() -> std::process::ExitCode { std::process::ExitCode::SUCCESS } }
