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

/// Where it is noted. Who only asks makes no folder for the answer.
fn known_mark(call: &Call, address: &str) -> Option<PathBuf> {
    call.project().has_local().then(|| mark(call, address)).flatten()
}

fn mark(call: &Call, address: &str) -> Option<PathBuf> {
    let name = format!("unreachable-{}", &hash::sha256(address.as_bytes())[..24]);
    // A folder on this machine is always worth a try.
    (!url::is_local(address)).then(|| call.project().local().ok().map(|local| local.path(&name))).flatten()
}

/// The fact with what git said when the host was asked last.
const CAUSE: &str = "cause";

/// What a fault says about a place, without how long ago that was.
pub(super) fn cause(fault: &Fault) -> &str {
    fault.get(CAUSE).unwrap_or(&fault.message)
}

/// Why an address is not tried now; `None` if it may be.
pub(super) fn reason(call: &Call, address: &str) -> Option<Fault> {
    // Another process that began a little later may have noted it.
    noted(call, address).filter(|(age, _)| age.abs() < SECONDS).map(|(age, why)| {
        let when = if age == 0 { "just now".to_owned() } else { format!("{} seconds ago", age.abs()) };
        unreached(address, format!("the host of the lessons did not answer {when}: {why}")).fact(CAUSE, why)
    })
}

/// Why an address could not be reached last, if it has not been reached since.
pub(super) fn trouble(call: &Call, address: &str) -> Option<Fault> {
    let (age, why) = noted(call, address)?;
    let at = call.project().world().now.as_second() - age;
    let at = jiff::Timestamp::from_second(at).map(time::format).unwrap_or_default();
    Some(unreached(address, format!("the host of the lessons did not answer at {at}: {why}")))
}

/// What is noted of an address: how many seconds ago it did not answer, and why.
fn noted(call: &Call, address: &str) -> Option<(i64, String)> {
    let text = files::read_text(&known_mark(call, address)?, MAX_MARK).ok().flatten()?;
    let (at, why) = text.split_once('\n')?;
    Some((call.project().world().now.as_second() - time::parse(at)?.as_second(), why.trim().to_owned()))
}

fn unreached(address: &str, message: String) -> Fault {
    Fault::new(Code::Io, message)
        .fact("url", url::shown(address))
        .hint("run `heirloom sync` once it answers; until then nothing is lost")
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
    if let Some(mark) = known_mark(call, address).filter(|mark| mark.exists()) {
        let _ = files::remove(&mark);
    }
}
