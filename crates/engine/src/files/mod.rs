//! Safe files: the primitives every shelf uses.
//!
//! Comes in: paths and bytes. Goes out: whole files or a [`heirloom_core::Fault`]. What never happens here: a
//! half-written file, a followed link below a root, a read without a limit, a write without the lock where one is
//! required (the lock is a value that such calls ask for).

mod append;
mod atomic;
mod batch;
mod claim;
mod input;
mod journal;
mod local;
mod lock;
mod queue;
mod read;
mod root;
pub(crate) mod stamp;
pub mod step;

pub use append::{Held, append_line, append_lines, append_passing, cut_tail, hold, turn_over};
pub use atomic::{
    Mode, Placed, Prepared, make_folder, remove, remove_empty_folder, rename, sweep_temporary, write,
    write_passing,
};
pub(crate) use atomic::{create_unsynced, sync_all_below, temporary_folder};
pub use batch::{Batch, Ready};
pub use claim::holds_only_memory;
pub use input::{TempRoots, read_input};
pub use journal::Changed;
pub use local::Local;
pub(crate) use lock::Holder;
pub use lock::{LOCK_LIMIT, Lock};
pub use read::{MAX_FILE, open_if_there, read, read_if_there, read_tail, read_text};
pub use root::Root;
pub(crate) use root::real_path;

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
