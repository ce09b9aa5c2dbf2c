//! The trust book, read: what is known of each text by its id and content hash.
//!
//! Comes in: the lines that [`super::trust`] appends. Goes out: [`Standing`]s, and under which edition of the rules a text was looked at
//! and passed. A large vault has a line for each of its memories, so the book stays the bytes it was read as, with a table of where each
//! id and hash stand in it. Never here: writing the book.

use super::edition::Edition;
use super::trust::Standing;
use crate::files;
use hashbrown::hash_table::{Entry, HashTable};
use heirloom_core::{Channel, Trust, fault::Result};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::BuildHasher as _;
use std::path::Path;
use std::sync::OnceLock;

/// The largest book that is read; places in it fit in 32 bits.
pub(super) const LIMIT: u64 = 256 << 20;

/// The book of one project.
#[derive(Debug, Default)]
pub struct Book {
    /// What was read, and behind it whatever could not be taken from it as it stood.
    bytes: Vec<u8>,
    texts: Vec<Text>,
    /// Places among the texts, by a hash of id and content hash.
    places: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
    /// Ids behind whose texts a person stands, once somebody asked.
    vouched: OnceLock<HashSet<Vec<u8>>>,
    /// Ids of which only agents wrote anything, once somebody asked.
    agents: OnceLock<HashSet<Vec<u8>>>,
    /// What texts of agents are known by.
    bodies: HashSet<Box<[u8]>>,
}

/// What is known of the text with an id and a hash.
#[derive(Debug)]
struct Text {
    id: Span,
    hash: Span,
    standing: Standing,
    edition: Option<Edition>,
    /// Whether a later change took its owner's word from it, at any time.
    superseded: bool,
}

/// Where something stands in the book.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..self.end as usize]
    }
}

/// A line of the book.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    hash: Cow<'a, str>,
    #[serde(borrow)]
    channel: Option<Cow<'a, str>>,
    accepted: Option<bool>,
    #[serde(borrow)]
    body: Option<Cow<'a, str>>,
    #[serde(borrow)]
    rules: Option<Cow<'a, str>>,
    superseded: Option<bool>,
}

/// What a line says, and where.
struct Said {
    id: Span,
    hash: Span,
    channel: Option<Channel>,
    accepted: bool,
    body: Option<Span>,
    edition: Option<Edition>,
    superseded: bool,
}

impl Book {
    /// Reads the book; a line that cannot be read costs only itself.
    pub fn read(book: &Path) -> Result<Book> {
        Ok(Book::of(files::read_if_there(book, LIMIT)?.unwrap_or_default()))
    }

    pub(super) fn of(bytes: Vec<u8>) -> Book {
        /// A line is hardly shorter.
        const SHORT: usize = 128;
        let end = bytes.len();
        let places = HashTable::with_capacity(end / SHORT);
        let mut book = Book { bytes, places, ..Book::default() };
        book.texts.reserve(end / SHORT);
        book.take_in(0, end);
        book
    }

    /// Takes in lines that were added at the end. Says whether there was room for them.
    pub(super) fn add(&mut self, lines: &[u8]) -> bool {
        let start = self.bytes.len();
        // What is put behind the book when it is read counts as well.
        if start + 2 * lines.len() >= u32::MAX as usize {
            return false;
        }
        self.vouched = OnceLock::new();
        self.agents = OnceLock::new();
        self.bytes.extend_from_slice(lines);
        self.take_in(start, self.bytes.len());
        true
    }

    fn take_in(&mut self, mut start: usize, end: usize) {
        while start < end {
            let line = memchr::memchr(b'\n', &self.bytes[start..end]).map_or(end, |found| start + found);
            if let Some(said) = quick(&self.bytes[start..line], start).or_else(|| self.slow(start, line)) {
                self.note(&said);
            }
            start = line + 1;
        }
    }

    /// A line of any other layout than that of our own. What it says is put behind the book, where it can be pointed at.
    fn slow(&mut self, start: usize, end: usize) -> Option<Said> {
        let line: Line<'_> = serde_json::from_slice(&self.bytes[start..end]).ok()?;
        let channel = line.channel.as_deref().and_then(Channel::named);
        let edition = line.rules.as_deref().and_then(Edition::parse);
        let superseded = line.superseded == Some(true);
        let (accepted, id, hash) =
            (line.accepted == Some(true), line.id.into_owned(), line.hash.into_owned());
        let body = line.body.map(Cow::into_owned);
        let (id, hash) = (self.put(&id), self.put(&hash));
        let body = body.map(|body| self.put(&body));
        Some(Said { id, hash, channel, accepted, body, edition, superseded })
    }

    fn put(&mut self, text: &str) -> Span {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text.as_bytes());
        Span { start, end: self.bytes.len() as u32 }
    }

    fn note(&mut self, said: &Said) {
        if let Some(body) = said.body {
            self.bodies.insert(body.of(&self.bytes).into());
        }
        let text = self.place(said.id, said.hash);
        if said.superseded {
            text.superseded = true;
            text.standing = Standing::STRANGER;
        }
        if let Some(channel) = said.channel {
            text.standing.channel = channel;
        }
        text.standing.accepted |= said.accepted;
        text.edition = said.edition.or(text.edition);
    }

    fn place(&mut self, id: Span, hash: Span) -> &mut Text {
        let Book { bytes, texts, places, hasher, .. } = self;
        let hash_of = |text: &Text| hasher.hash_one((text.id.of(bytes), text.hash.of(bytes)));
        let fresh = Text { id, hash, standing: Standing::STRANGER, edition: None, superseded: false };
        let same = |at: &u32| {
            let known = &texts[*at as usize];
            known.hash.of(bytes) == hash.of(bytes) && known.id.of(bytes) == id.of(bytes)
        };
        let at = match places.entry(hash_of(&fresh), same, |at| hash_of(&texts[*at as usize])) {
            Entry::Occupied(known) => *known.get() as usize,
            Entry::Vacant(free) => {
                free.insert(texts.len() as u32);
                texts.push(fresh);
                texts.len() - 1
            }
        };
        &mut texts[at]
    }

    fn text(&self, id: &str, hash: &str) -> Option<&Text> {
        let (id, hash) = (id.as_bytes(), hash.as_bytes());
        let same = |at: &u32| {
            let known = &self.texts[*at as usize];
            known.hash.of(&self.bytes) == hash && known.id.of(&self.bytes) == id
        };
        self.places.find(self.hasher.hash_one((id, hash)), same).map(|at| &self.texts[*at as usize])
    }

    /// What is known of a text. Bytes nobody here wrote under a name that only agents used are an agent's: touching a file raises nothing.
    pub fn standing(&self, id: &str, hash: &str) -> Standing {
        match self.text(id, hash).map_or(Standing::STRANGER, |text| text.standing) {
            Standing::STRANGER if self.is_an_agents(id) => {
                Standing { channel: Channel::Agent, accepted: false }
            }
            known => known,
        }
    }

    /// The same for a text that says this: what an agent wrote stays an agent's under whatever name it comes back.
    pub fn standing_of(&self, id: &str, hash: &str, body: &str) -> Standing {
        match self.standing(id, hash) {
            Standing::STRANGER if self.began_with_an_agent(body) => {
                Standing { channel: Channel::Agent, accepted: false }
            }
            known => known,
        }
    }

    fn began_with_an_agent(&self, body: &str) -> bool {
        !self.bodies.is_empty()
            && super::trust::body_of(body).is_some_and(|body| self.bodies.contains(body.as_bytes()))
    }

    /// Whether these bytes had their owner's word and lost it to a later change.
    pub fn is_superseded(&self, id: &str, hash: &str) -> bool {
        self.text(id, hash).is_some_and(|text| text.superseded && text.standing.trust() < Trust::High)
    }

    fn is_an_agents(&self, id: &str) -> bool {
        let agents = || {
            let by_agents = self.texts.iter().filter(|text| text.standing.channel == Channel::Agent);
            by_agents.map(|text| text.id.of(&self.bytes).to_owned()).collect()
        };
        !self.texts.is_empty()
            && self.agents.get_or_init(agents).contains(id.as_bytes())
            && !self.is_vouched(id)
    }

    /// What is known of a text, and whether it was looked at with these very rules and passed.
    pub fn looked_at(&self, id: &str, hash: &str, edition: Edition) -> (Standing, bool) {
        let passed = self.text(id, hash).is_some_and(|text| text.edition == Some(edition));
        (self.standing(id, hash), passed)
    }

    /// Whether a person stands behind any text of this id.
    pub fn is_vouched(&self, id: &str) -> bool {
        let vouched = || {
            let high = self.texts.iter().filter(|text| text.standing.trust() == Trust::High);
            high.map(|text| text.id.of(&self.bytes).to_owned()).collect()
        };
        self.vouched.get_or_init(vouched).contains(id.as_bytes())
    }
}

/// What a line says that is laid out like ours without any escape; `start` is where it begins in the book.
fn quick(line: &[u8], start: usize) -> Option<Said> {
    if line.iter().fold(false, |odd, byte| odd | (*byte < b' ') | (*byte == b'\\')) {
        return None;
    }
    let mut rest = Rest { line, at: 0 };
    let span = |(from, to): (usize, usize)| Span { start: (start + from) as u32, end: (start + to) as u32 };
    let id = rest.after(b"{\"id\":\"")?;
    let hash = rest.after(b",\"hash\":\"")?;
    rest.after(b",\"at\":\"")?;
    let channel = match rest.after(b",\"channel\":\"") {
        Some(place) => Channel::named(rest.text(place)?),
        None => None,
    };
    let accepted = rest.skip(b",\"accepted\":true");
    let body = rest.after(b",\"body\":\"").map(span);
    let edition = match rest.after(b",\"rules\":\"") {
        Some(place) => Edition::parse(rest.text(place)?),
        None => None,
    };
    let said =
        || Said { id: span(id), hash: span(hash), channel, accepted, body, edition, superseded: false };
    (&line[rest.at..] == b"}").then(said)
}

/// A line, and how far it was read.
struct Rest<'a> {
    line: &'a [u8],
    at: usize,
}

impl Rest<'_> {
    fn skip(&mut self, mark: &[u8]) -> bool {
        let found = self.line[self.at..].starts_with(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    /// The text that begins after a mark, if that comes next.
    fn after(&mut self, mark: &[u8]) -> Option<(usize, usize)> {
        if !self.line[self.at..].starts_with(mark) {
            return None;
        }
        let start = self.at + mark.len();
        let end = start + memchr::memchr(b'"', &self.line[start..])?;
        self.at = end + 1;
        Some((start, end))
    }

    fn text(&self, (start, end): (usize, usize)) -> Option<&str> {
        str::from_utf8(&self.line[start..end]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The book as a plain list, read by the JSON parser alone.
    fn plain(text: &str) -> Vec<(String, String, Standing, Option<Edition>)> {
        let mut all: Vec<(String, String, Standing, Option<Edition>)> = Vec::new();
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<Line<'_>>(line) else { continue };
            let known = all.iter().position(|(id, hash, ..)| *id == line.id && *hash == line.hash);
            let at = known.unwrap_or_else(|| {
                all.push((line.id.to_string(), line.hash.to_string(), Standing::STRANGER, None));
                all.len() - 1
            });
            if line.superseded == Some(true) {
                all[at].2 = Standing::STRANGER;
            }
            if let Some(channel) = line.channel.as_deref().and_then(Channel::named) {
                all[at].2.channel = channel;
            }
            all[at].2.accepted |= line.accepted == Some(true);
            all[at].3 = line.rules.as_deref().and_then(Edition::parse).or(all[at].3);
        }
        // Of a name that only agents used, nothing is more than an agent's.
        let noted: Vec<(String, Standing)> = all.iter().map(|one| (one.0.clone(), one.2)).collect();
        for one in all.iter_mut().filter(|one| one.2 == Standing::STRANGER) {
            let mut of_id = noted.iter().filter(|(id, _)| *id == one.0).map(|(_, standing)| standing);
            let by_agent = of_id.clone().any(|standing| standing.channel == Channel::Agent);
            if by_agent && of_id.all(|standing| standing.trust() < Trust::High) {
                one.2 = Standing { channel: Channel::Agent, accepted: false };
            }
        }
        all
    }

    proptest! {
        #[test]
        fn the_quick_book_is_the_plain_one(lines in prop::collection::vec((
            prop::sample::select(vec!["a", "b", "q\\\"", "\u{e9}"]),
            prop::sample::select(vec!["1", "2", "\\u0031"]),
            prop::sample::select(vec!["", ",\"channel\":\"agent\"", ",\"channel\":\"person\"", ",\"channel\":\"x\"", ",\"channel\":7"]),
            prop::sample::select(vec!["", ",\"accepted\":true", ",\"accepted\":false", ",\"accepted\":true,\"accepted\":true", ", \"more\":[]", ",\"superseded\":true"]),
            prop::sample::select(vec!["", ",\"rules\":\"00000000000000ff\"", ",\"rules\":\"FF\"", ",\"rules\":\"00000000000000fe\""]),
            prop::sample::select(vec!["}", "}", "}", "} ", ""]),
        ), 0..40)) {
            let text: String = lines.iter().map(|(id, hash, channel, accepted, rules, end)| {
                format!("{{\"id\":\"{id}\",\"hash\":\"{hash}\",\"at\":\"2026-01-10T09:00:00Z\"{channel}{accepted}{rules}{end}\n")
            }).collect();
            let book = Book::of(text.clone().into_bytes());
            let expected = plain(&text);
            prop_assert_eq!(book.texts.len(), expected.len());
            for (id, hash, standing, edition) in &expected {
                prop_assert_eq!(book.standing(id, hash), *standing);
                let vouched = expected.iter().any(|one| one.0 == *id && one.2.trust() == Trust::High);
                prop_assert_eq!(book.is_vouched(id), vouched);
                for value in ["00000000000000fe", "00000000000000ff"] {
                    let asked = Edition::parse(value).unwrap();
                    prop_assert_eq!(book.looked_at(id, hash, asked), (*standing, *edition == Some(asked)));
                }
            }
            prop_assert_eq!(book.standing("nobody's", "3"), Standing::STRANGER);
        }
    }

    #[test]
    fn what_is_added_is_known_at_once_and_a_book_grows() {
        let mut book = Book::default();
        assert!(!book.is_vouched("x-7"));
        let standing = Standing { channel: Channel::Person, accepted: true };
        for n in 0..100 {
            let line = format!(
                "{{\"id\":\"x-{n}\",\"hash\":\"hash\",\"at\":\"\",\"channel\":\"person\",\"accepted\":true}}\n"
            );
            assert!(book.add(line.as_bytes()));
        }
        assert!((0..100).all(|n| book.standing(&format!("x-{n}"), "hash") == standing));
        assert!(book.is_vouched("x-7") && !book.is_vouched("x-100"));
    }
}
