//! Invitations: a link that works once, by which the holder of a user's token sets the PIN that makes them a person at a server's page.
//!
//! Comes in: random bytes from the door, whose link it is to be and until when. Goes out: the secret of the link, once, and an [`Invite`] for the
//! store. The link alone is worth nothing: whoever opens it also shows a token of the same user. Never here: a secret that is kept; stores hold
//! hashes.

use heirloom_core::{Code, Fault, fault::Result, hash, time};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Hours for which a link works unless somebody says.
pub const HOURS: u32 = 24;
/// The most hours a link can work.
pub const MOST_HOURS: u32 = 24 * 7;

/// An invitation as stores keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invite {
    /// SHA-256 of the link's secret.
    pub hash: String,
    /// Whose it is.
    pub user: String,
    /// When it was made.
    pub added_at: String,
    /// From when on it no longer works.
    pub expires_at: String,
}

/// What became of a link that somebody used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The PIN is set, and the link no longer works.
    Set,
    /// No such link: never made, used already, or replaced by a newer one.
    Unknown,
    /// Its time is over.
    Ended,
    /// It is another user's.
    Foreign,
}

impl Invite {
    /// An invitation for a user, by the secret of its link.
    pub fn of(secret: &str, user: &str, now: Timestamp, hours: u32) -> Result<Invite> {
        let wrong = || {
            Fault::new(Code::Usage, format!("an invitation cannot last {hours} hours"))
                .hint(format!("use 1 to {MOST_HOURS}"))
        };
        if hours == 0 || hours > MOST_HOURS {
            return Err(wrong());
        }
        let end = now.checked_add(SignedDuration::from_hours(i64::from(hours))).map_err(|_| wrong())?;
        Ok(Invite {
            hash: hash_of(secret),
            user: user.to_owned(),
            added_at: time::format(now),
            expires_at: time::format(end),
        })
    }

    /// What names it without giving it away.
    pub fn id(&self) -> &str {
        self.hash.get(..8).unwrap_or(&self.hash)
    }

    /// Whether its time is over. An end that cannot be read has come.
    pub(super) fn ended(&self, now: Timestamp) -> bool {
        time::parse(&self.expires_at).is_none_or(|end| end <= now)
    }
}

/// The secret of a link, made of random bytes.
pub fn new(random: &[u8; 32]) -> String {
    format!("hli_{}", hash::sha256(random))
}

/// The hash a link is kept by.
pub fn hash_of(secret: &str) -> String {
    hash::sha256(format!("heirloom invite\0{}", secret.trim()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_ends_when_it_says_and_lasts_no_longer_than_a_week() {
        let noon = time::parse("2026-03-01T12:00:00Z").unwrap();
        let invite = Invite::of("hli_x", "ana", noon, HOURS).unwrap();
        assert_eq!(invite.expires_at, "2026-03-02T12:00:00Z");
        assert!(!invite.ended(noon) && invite.ended(time::parse("2026-03-02T12:00:00Z").unwrap()));
        assert!(!invite.hash.contains("hli_x") && invite.hash == hash_of(" hli_x\n"));
        for hours in [0, MOST_HOURS + 1, u32::MAX] {
            assert_eq!(Invite::of("x", "ana", noon, hours).unwrap_err().code, Code::Usage);
        }
        assert!(Invite { expires_at: "soon".to_owned(), ..invite }.ended(noon));
    }
}
