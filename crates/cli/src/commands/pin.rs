//! `config pin`: the PIN by which somebody at a terminal shows to be the person.

use super::config::{read, write};
use crate::output::Out;
use crate::wiring::Wired;
use crate::{person, wiring};
use heirloom_core::settings::flat;
use heirloom_core::{Code, Fault, ShelfName, Verb, fault::Result};
use heirloom_engine::pin::Pin;
use serde_json::json;

const CHECK: &str = "person.check";

pub(super) fn run(wired: &mut Wired, remove: bool, out: &Out) -> Result<()> {
    person::required("the PIN")?;
    let pin = Pin::of(&wired.call.project().world().data);
    if pin.is_set() {
        person::pin(&pin, wired.call.project().world())?;
    } else if remove {
        return Err(Fault::new(Code::NotFound, "there is no PIN").hint("`heirloom config pin` sets one"));
    }
    // Who gave the old one was checked; where there is none, there is nothing to give.
    wired.call.check_person();
    wired.call.permit(Verb::ConfigGuarded, ShelfName::Records, "")?;
    let path = wiring::user_settings_file();
    let mut document = read(&path)?;
    if remove {
        flat::remove(&mut document, CHECK);
        write(&path, &document, true)?;
        pin.remove()?;
    } else {
        let new = person::secret("New PIN:")?;
        if person::secret("Once more:")? != new {
            return Err(Fault::new(Code::Usage, "the two are not the same; nothing was changed")
                .hint("`heirloom config pin` asks again"));
        }
        pin.set(&new, &wiring::random()?)?;
        flat::set(&mut document, CHECK, json!("pin"));
        write(&path, &document, true)?;
    }
    let status = if remove { "removed" } else { "set" };
    out.answer(&json!({ "status": status }), || {
        out.line(format!("{} the PIN", out.style.green(status)));
        if !remove {
            out.say("it is asked for before accepting, removing for good, guarded settings and tokens");
        }
    });
    Ok(())
}
