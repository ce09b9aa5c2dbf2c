//! `config pin`: the PIN by which somebody at a terminal shows to be the person.

use crate::output::Out;
use crate::person;
use crate::wiring::Wired;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::config::{SetPin, has_pin, remove_pin, set_pin};

pub(super) fn run(wired: &mut Wired, remove: bool, out: &Out) -> Result<()> {
    // Whoever is no person is refused by the verb, and whoever has a PIN gives it before another one.
    if wired.call.caller().is_person() && has_pin(&wired.call) {
        person::pin(&mut wired.call)?;
    }
    let done = if remove || !wired.call.caller().is_person() {
        remove_pin(&wired.call)?
    } else {
        let pin = person::secret("New PIN:")?;
        if person::secret("Once more:")? != pin {
            return Err(Fault::new(Code::Usage, "the two are not the same; nothing was changed")
                .hint("`heirloom config pin` asks again"));
        }
        set_pin(&wired.call, &SetPin { pin })?
    };
    out.answer(&done, || {
        out.line(format!("{} the PIN", out.style.green(done.status)));
        if !remove {
            out.say("it is asked for before accepting, removing for good, guarded settings and tokens");
        }
    });
    Ok(())
}
