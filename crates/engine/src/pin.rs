//! The PIN by which somebody at a terminal, or at the page, shows to be the person.
//!
//! Comes in: what was typed, the time, random bytes for the day a PIN is set. Goes out: right, wrong, or not now. It is kept in the user's data
//! folder as an Argon2id hash that only its owner reads. After five wrong tries there is a pause, and after each five more a longer one; a try
//! counts before it is looked at, so that nobody gains one by killing the process. Never here: a guard against a process that rewrites the
//! data folder; whoever can do that needs no PIN.

use crate::files::{self, LOCK_LIMIT, Lock, Mode};
use heirloom_core::{Code, Fault, fault::Result, hash, json, time};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::{Path, PathBuf};

/// Tries before there is a pause.
const TRIES: u32 = 5;
/// The first pause, in minutes.
const PAUSE: i64 = 5;
/// The longest pause, in minutes.
const LONGEST_PAUSE: i64 = 24 * 60;

/// The shortest and the longest PIN, in characters.
const LENGTH: std::ops::RangeInclusive<usize> = 4..=64;

/// What it costs to try one: memory in KiB, and passes over it.
const COST: (u32, u32) = (19_456, 2);

const LIMIT: u64 = 4 << 10;

/// A user's PIN.
#[derive(Debug)]
pub struct Pin {
    folder: PathBuf,
}

/// What became of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// That is the PIN.
    Right,
    /// It is not.
    Wrong {
        /// Tries left before there is a pause.
        left: u32,
    },
}

/// What a PIN is hashed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Salt {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
    /// The salt itself.
    pub salt: String,
}

impl Salt {
    /// A new one, from random bytes.
    pub fn of(random: &[u8; 32]) -> Salt {
        let (memory_kib, passes) = COST;
        Salt { memory_kib, passes, salt: hash::sha256(random) }
    }

    /// The Argon2id hash of a PIN, as hex.
    pub fn digest(&self, pin: &str) -> Result<String> {
        use argon2::{Algorithm, Argon2, Params, Version};
        let cannot = |e: argon2::Error| Fault::new(Code::Damaged, format!("the PIN cannot be checked: {e}"));
        let params = Params::new(self.memory_kib, self.passes, 1, Some(32)).map_err(cannot)?;
        let mut bytes = [0; 32];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(pin.as_bytes(), self.salt.as_bytes(), &mut bytes)
            .map_err(cannot)?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The refusal of whoever must wait until then.
pub fn wait_until(end: &str) -> Fault {
    Fault::new(Code::NeedsPerson, "too many wrong PINs")
        .fact("until", end)
        .hint(format!("try again after {end}"))
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    salt: Salt,
    hash: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Tries {
    wrong: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

impl Pin {
    /// The PIN of the user with this data folder.
    pub fn of(data: &Path) -> Pin {
        Pin { folder: data.to_owned() }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("pin.json")
    }

    fn tries_file(&self) -> PathBuf {
        self.folder.join("pin-tries.json")
    }

    fn lock(&self) -> Result<Lock> {
        files::make_folder(&self.folder, Mode::Private)?;
        Lock::acquire(&self.folder.join("pin.lock"), LOCK_LIMIT)
    }

    /// Whether there is one.
    pub fn is_set(&self) -> bool {
        self.file().exists()
    }

    /// Whether a text can be a PIN.
    pub fn fits(pin: &str) -> Result<()> {
        if LENGTH.contains(&pin.chars().count()) {
            return Ok(());
        }
        Err(Fault::new(Code::Usage, "this cannot be a PIN").hint(format!(
            "use {} to {} characters",
            LENGTH.start(),
            LENGTH.end()
        )))
    }

    /// Sets it, in the place of the one before.
    pub fn set(&self, pin: &str, random: &[u8; 32]) -> Result<()> {
        Pin::fits(pin)?;
        let _lock = self.lock()?;
        let salt = Salt::of(random);
        let hash = salt.digest(pin)?;
        write(&self.file(), &Kept { salt, hash })?;
        remove(&self.tries_file())
    }

    /// Takes it away.
    pub fn remove(&self) -> Result<()> {
        let _lock = self.lock()?;
        remove(&self.file())?;
        remove(&self.tries_file())
    }

    /// Refuses while there is nothing to answer or a pause is on.
    pub fn open(&self, now: Timestamp) -> Result<()> {
        if !self.is_set() {
            return Err(Fault::new(Code::NeedsPerson, "`person.check` asks for a PIN, and none is set")
                .hint("set one: heirloom config pin"));
        }
        self.paused(&self.tries()?, now)
    }

    fn paused(&self, tries: &Tries, now: Timestamp) -> Result<()> {
        let Some(until) = tries.until.as_deref() else { return Ok(()) };
        // A pause that cannot be read lasts as long as the longest, and a clock that was wrong makes none longer than that.
        let end = time::parse(until).unwrap_or(Timestamp::MAX).min(later(now, LONGEST_PAUSE));
        if end <= now {
            return Ok(());
        }
        Err(wait_until(&time::format(end)))
    }

    /// Looks whether this is the PIN. The try is counted first.
    pub fn answer(&self, pin: &str, now: Timestamp) -> Result<Answer> {
        let _lock = self.lock()?;
        let Some(kept) = read::<Kept>(&self.file())? else {
            self.open(now)?;
            return Err(Fault::new(Code::Internal, "the PIN is set but its file is missing"));
        };
        let mut tries = self.tries()?;
        self.paused(&tries, now)?;
        tries.wrong = tries.wrong.saturating_add(1);
        tries.until = (tries.wrong % TRIES == 0).then(|| time::format(later(now, pause(tries.wrong))));
        write(&self.tries_file(), &tries)?;
        if hash::same(&kept.salt.digest(pin)?, &kept.hash) {
            remove(&self.tries_file())?;
            return Ok(Answer::Right);
        }
        match tries.wrong % TRIES {
            0 => self.paused(&tries, now).map(|()| Answer::Wrong { left: TRIES }),
            wrong => Ok(Answer::Wrong { left: TRIES - wrong }),
        }
    }

    fn tries(&self) -> Result<Tries> {
        Ok(read(&self.tries_file())?.unwrap_or_default())
    }
}

/// Twice as long after each five.
fn pause(wrong: u32) -> i64 {
    let doubled = (wrong / TRIES).saturating_sub(1).min(20);
    (PAUSE << doubled).min(LONGEST_PAUSE)
}

fn later(now: Timestamp, minutes: i64) -> Timestamp {
    now.checked_add(SignedDuration::from_mins(minutes)).unwrap_or(Timestamp::MAX)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(text) = files::read_text(path, LIMIT)? else { return Ok(None) };
    let value = json::parse(text.as_bytes()).ok().and_then(|value| serde_json::from_value(value).ok());
    value.map(Some).ok_or_else(|| {
        Fault::new(Code::Damaged, "the file of the PIN cannot be read")
            .fact("path", path.display().to_string())
            .hint("remove the file and set the PIN again: heirloom config pin")
    })
}

fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(value)
        .map_err(|e| Fault::new(Code::Internal, format!("the PIN cannot be saved: {e}")))?;
    files::write(path, (text + "\n").as_bytes(), Mode::Private)
}

fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(path, "remove", &e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn at(text: &str) -> Timestamp {
        time::parse(text).unwrap()
    }

    #[test]
    fn five_wrong_tries_make_a_pause_that_grows_and_a_right_one_ends_the_count() {
        let folder = tempfile::tempdir().unwrap();
        let pin = Pin::of(folder.path());
        let noon = at("2026-03-01T12:00:00Z");
        assert!(pin.open(noon).unwrap_err().next_step().contains("heirloom config pin"));
        assert_eq!(pin.set("123", &[1; 32]).unwrap_err().code, Code::Usage);
        pin.set("4711", &[1; 32]).unwrap();
        assert_eq!(pin.answer("0000", noon).unwrap(), Answer::Wrong { left: 4 });
        assert_eq!(pin.answer("4711", noon).unwrap(), Answer::Right);
        for left in (1..TRIES).rev() {
            assert_eq!(pin.answer("0000", noon).unwrap(), Answer::Wrong { left });
        }
        let paused = pin.answer("0000", noon).unwrap_err();
        assert_eq!((paused.code, paused.get("until")), (Code::NeedsPerson, Some("2026-03-01T12:05:00Z")));
        assert!(pin.answer("4711", at("2026-03-01T12:04:59Z")).is_err(), "not even the right one");
        assert!(pin.open(at("2026-03-01T12:05:00Z")).is_ok());
        assert_eq!([5, 10, 15, 100, u32::MAX].map(pause), [5, 10, 20, 1440, 1440]);
        for file in ["pin.json", "pin-tries.json"] {
            let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }
        let kept = std::fs::read_to_string(folder.path().join("pin.json")).unwrap();
        assert!(!kept.contains("4711"));
        pin.remove().unwrap();
        assert!(!pin.is_set());
    }

    #[test]
    fn two_users_with_one_pin_have_two_hashes() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Pin::of(a.path()).set("4711", &[1; 32]).unwrap();
        Pin::of(b.path()).set("4711", &[2; 32]).unwrap();
        let read = |folder: &Path| std::fs::read_to_string(folder.join("pin.json")).unwrap();
        assert_ne!(read(a.path()), read(b.path()));
    }
}
