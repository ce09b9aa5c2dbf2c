//! Hosts that did not answer: writes leave them alone for a while.
//!
//! Comes in: the address of a repository and what happened. Goes out: whether it is worth a try. Who wants to try anyway runs `heirloom sync`. Marks
//! lie in the machine-local folder, one file for each address. Never here: a call to anybody.

use super::url;
use crate::call::Call;
use crate::files::{self, Mode};
use heirloom_core::{Code, Fault, hash, time};
use std::path::PathBuf;

/// How long a host is left alone.
const SECONDS: i64 = 300;

/// The largest mark that is read.
const MAX_MARK: u64 = 4096;

fn mark(call: &Call, address: &str) -> Option<PathBuf> {
    let name = format!("unreachable-{}", &hash::sha256(address.as_bytes())[..24]);
    // A folder on this machine is always worth a try.
    (!url::is_local(address)).then(|| call.project().local().ok().map(|local| local.path(&name))).flatten()
}

/// Why an address is not tried now; `None` if it may be.
pub(super) fn reason(call: &Call, address: &str) -> Option<Fault> {
    let text = files::read_text(&mark(call, address)?, MAX_MARK).ok().flatten()?;
    let (at, why) = text.split_once('\n')?;
    let age = call.project().world().now.as_second() - time::parse(at)?.as_second();
    (0..SECONDS).contains(&age).then(|| {
        Fault::new(
            Code::Io,
            format!("the host of the lessons did not answer {age} seconds ago: {}", why.trim()),
        )
        .fact("url", url::shown(address))
        .hint("run `heirloom sync` once it answers; until then nothing is lost")
    })
}

/// Notes that an address could not be reached.
pub(super) fn note(call: &Call, address: &str, fault: &Fault) {
    let Some(mark) = mark(call, address) else { return };
    let text = format!("{}\n{}\n", time::format(call.project().world().now), fault.message);
    // Without the mark the next write tries again.
    let _ = files::write(&mark, text.as_bytes(), Mode::Private);
}

/// Forgets that an address could not be reached.
pub(super) fn clear(call: &Call, address: &str) {
    if let Some(mark) = mark(call, address).filter(|mark| mark.exists()) {
        let _ = files::remove(&mark);
    }
}
