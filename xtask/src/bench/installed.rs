//! The binary as it is installed: optimised, static, at a fixed address.
//!
//! Comes in: nothing. Goes out: its path.

use crate::install;
use std::path::PathBuf;

pub(crate) fn build() -> Result<PathBuf, String> {
    install::build_static(&install::host()?)
}
