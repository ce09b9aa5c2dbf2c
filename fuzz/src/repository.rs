//! A repository's folder, as whoever sends a project may have packed it.
//!
//! An input is a row of files: a byte that says which, two for the length, the bytes. Packed streams and the index of a pack are also made
//! right from raw bytes, since nobody guesses those.

use heirloom_engine::git::Place;
use std::path::Path;

/// The files an input may fill, below the git folder.
const NAMES: [&str; 10] = [
    "HEAD",
    "packed-refs",
    "refs/heads/main",
    "shallow",
    "commondir",
    "objects/info/alternates",
    "objects/pack/pack-a.idx",
    "objects/pack/pack-a.pack",
    "objects/pack/pack-b.idx",
    "objects/pack/pack-b.pack",
];

/// Digits of the objects that an input can give by hand: the first is the one that is checked out unless `HEAD` says otherwise.
const OBJECTS: [&str; 4] = ["a", "b", "c", "d"];

/// The first commit is found or not, within the limits, and found again.
pub(crate) fn git(bytes: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let git = folder.path().join(".git");
    write(&git.join("HEAD"), b"ref: refs/heads/main\n");
    write(&git.join("refs/heads/main"), "a".repeat(40).as_bytes());
    for (which, part) in files(bytes).take(24) {
        match usize::from(which) {
            at if at < NAMES.len() => write(&git.join(NAMES[at]), part),
            // An object of its own file: the bytes as they are, or packed as they should be.
            at if at < NAMES.len() + OBJECTS.len() => {
                let digit = OBJECTS[at - NAMES.len()];
                let packed = if part.first() == Some(&0x78) { part.to_vec() } else { stored(part) };
                write(&git.join("objects").join(digit.repeat(2)).join(digit.repeat(38)), &packed);
            }
            // A pack with an index that is right: every byte of the pack may be where an object begins.
            _ => {
                let (at, rest) = part.split_at_checked(1).unwrap_or((&[0], &[]));
                write(&git.join("objects/pack/pack-c.pack"), rest);
                write(&git.join("objects/pack/pack-c.idx"), &index(u32::from(at[0])));
            }
        }
    }
    let look = || Place::around(folder.path()).and_then(|place| place.first_commit());
    assert_eq!(look(), look(), "the same folder is read the same");
}

fn files(bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let ([which, high, low], tail) = rest.split_first_chunk::<3>().map(|(head, tail)| (*head, tail))?;
        let length = usize::from(u16::from_be_bytes([high, low])).min(tail.len());
        let (part, after) = tail.split_at(length);
        rest = after;
        Some((which, part))
    })
}

fn write(path: &Path, bytes: &[u8]) {
    if let Some(folder) = path.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = std::fs::write(path, bytes);
}

/// A packed stream of one stored block.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    let mut out = vec![0x78, 0x01, 0x01];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(&bytes[..usize::from(length)]);
    out
}

/// An index that names four objects, one after the other from an offset on.
fn index(offset: u32) -> Vec<u8> {
    let mut out = vec![0xff, b't', b'O', b'c', 0, 0, 0, 2];
    let names: Vec<u8> = vec![0xaa, 0xbb, 0xcc, 0xdd];
    for first in 0..=255u8 {
        let count = names.iter().filter(|name| **name <= first).count();
        out.extend((count as u32).to_be_bytes());
    }
    names.iter().for_each(|name| out.extend([*name; 20]));
    out.extend([0; 16]);
    (0..4).for_each(|n| out.extend((offset + n * 16).to_be_bytes()));
    out.extend([0; 40]);
    out
}
