//! x
pub(crate) fn run(_: &[&str]) -> std::process::ExitCode { std::process::ExitCode::SUCCESS }
