//! A vault file that somebody wrote without the gate.
//!
//! Comes in: its bytes. Goes out: whether every line can be read and nothing in use would be refused. Never here: changing it.

use super::image::Image;
use super::store::Vault;
use heirloom_core::{Code, Fault, fault::Result};

impl Vault<'_> {
    /// Says what is wrong with a vault file, by the first line that is.
    pub fn judge_file(&self, bytes: &[u8]) -> Result<()> {
        let image = Image::of(bytes);
        if let Some(broken) = image.broken().first() {
            return Err(Fault::new(
                Code::Damaged,
                format!("line {} cannot be read: {}", broken.number, broken.why),
            ));
        }
        let refused = image.readable().filter(|held| held.record.is_active()).find_map(|held| {
            let rule = self.held_back(&held.record.text)?;
            Some((held.number, rule))
        });
        match refused {
            None => Ok(()),
            Some((line, rule)) => Err(Fault::new(
                Code::GateRefused,
                format!("line {line} holds what must not be stored ({rule})"),
            )),
        }
    }
}
