//! The shape of the rule data and its rendering as Rust tables. Used by the build script and, for
//! reading the data back, by the test that walks every example. In: parsed data. Out: Rust source.
//! Never part of the running scanner.

use serde::Deserialize;
use std::{collections::BTreeMap, fmt::Write};

/// Width of the trigram index: `1 << INDEX_BITS` slots.
pub const INDEX_BITS: u32 = 16;

/// Width of the filter over four bytes, in bits.
pub const FOURTH_BITS: u32 = 17;
/// How far after its keyword a match is looked for; it bounds the work per keyword hit.
const LONGEST: usize = 4096;

/// One or more rule files.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    #[serde(default)]
    pub rule: Vec<Rule>,
    #[serde(default)]
    pub near: Vec<Near>,
    #[serde(default)]
    pub word: Vec<Word>,
    #[serde(default)]
    pub services: Vec<String>,
    #[serde(default)]
    pub cues: Vec<String>,
    #[serde(default)]
    pub placeholders: Vec<String>,
    #[serde(default)]
    pub stand_ins: Vec<String>,
    #[serde(default)]
    pub tails: Vec<String>,
    #[serde(default)]
    pub heads: Vec<String>,
    #[serde(default)]
    pub public: Vec<String>,
    #[serde(default)]
    pub letters: Vec<String>,
    #[serde(default)]
    pub copulas: Vec<String>,
    #[serde(default)]
    pub relays: Vec<String>,
    #[serde(default)]
    pub nouns: Vec<String>,
    #[serde(default)]
    pub onto: Vec<String>,
    #[serde(default)]
    pub states: Vec<String>,
    #[serde(default)]
    pub places: Vec<String>,
    #[serde(default)]
    pub named: Vec<String>,
    #[serde(default)]
    pub users: Vec<String>,
    #[serde(default)]
    pub joins: Vec<String>,
    #[serde(default)]
    pub before: Vec<String>,
}

/// A format: a pattern near a keyword.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the build script reads the pattern, the test reads the examples")]
pub struct Rule {
    pub id: String,
    #[serde(default = "secret")]
    pub class: String,
    #[serde(default = "definite")]
    pub level: String,
    pub pattern: String,
    pub keywords: Vec<String>,
    #[serde(default)]
    pub entropy: f32,
    pub check: Option<String>,
    /// Bytes before the keyword in which a match may begin.
    #[serde(default)]
    pub back: usize,
    /// Bytes after the keyword in which a match may begin (a keyword that is context, not prefix).
    #[serde(default)]
    pub reach: usize,
    /// Words of which one must stand near the keyword too.
    #[serde(default)]
    pub also: Vec<String>,
    /// How far a match reaches at most, for patterns that set no limit themselves.
    #[serde(default = "span")]
    pub span: usize,
    /// `true` if a match may touch a letter or digit on either side.
    #[serde(default)]
    pub open: bool,
    #[serde(default)]
    pub examples: Vec<String>,
    #[serde(default)]
    pub counter_examples: Vec<String>,
}

/// Phrases that mean something only close together.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the test reads the examples")]
pub struct Near {
    pub id: String,
    pub class: String,
    pub level: String,
    pub within: usize,
    pub groups: Vec<Vec<String>>,
    #[serde(default)]
    pub examples: Vec<String>,
    #[serde(default)]
    pub counter_examples: Vec<String>,
}

/// Words that announce a credential.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Word {
    pub cue: String,
    pub words: Vec<String>,
}

fn secret() -> String {
    "secret".to_owned()
}

fn span() -> usize {
    600
}

fn definite() -> String {
    "definite".to_owned()
}

impl Data {
    pub fn absorb(&mut self, other: Data) {
        self.rule.extend(other.rule);
        self.near.extend(other.near);
        self.word.extend(other.word);
        self.services.extend(other.services);
        self.cues.extend(other.cues);
        self.placeholders.extend(other.placeholders);
        self.stand_ins.extend(other.stand_ins);
        self.tails.extend(other.tails);
        self.heads.extend(other.heads);
        self.public.extend(other.public);
        self.letters.extend(other.letters);
        self.copulas.extend(other.copulas);
        self.relays.extend(other.relays);
        self.nouns.extend(other.nouns);
        self.onto.extend(other.onto);
        self.states.extend(other.states);
        self.places.extend(other.places);
        self.named.extend(other.named);
        self.users.extend(other.users);
        self.joins.extend(other.joins);
        self.before.extend(other.before);
    }
}

/// The bytes after a keyword in which the longest match of a pattern ends. A pattern without an
/// upper length gets the limit; the scanner follows a token that is cut there to its end.
fn longest(rule: &Rule) -> usize {
    let hir = regex_syntax::ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .build()
        .parse(&rule.pattern)
        .unwrap_or_else(|e| panic!("rule {}: {e}", rule.id));
    hir.properties().maximum_len().unwrap_or(rule.span).min(LONGEST)
}

fn class(name: &str) -> &'static str {
    match name {
        "secret" => "Class::Secret",
        "identity" => "Class::Identity",
        "contact" => "Class::Contact",
        "injection" => "Class::Injection",
        other => panic!("unknown class {other}"),
    }
}

fn level(name: &str) -> &'static str {
    match name {
        "possible" => "Level::Possible",
        "probable" => "Level::Probable",
        "definite" => "Level::Definite",
        other => panic!("unknown level {other}"),
    }
}

/// `base58-check` becomes `Base58`.
fn camel(name: &str) -> String {
    name.split(['-', '_'])
        .flat_map(|part| {
            let mut letters = part.chars();
            letters.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}

/// The spellings of a keyword that the byte-wise index must know: ASCII is folded while scanning,
/// other scripts are listed in lower, title and upper case.
fn spellings(word: &str) -> Vec<String> {
    if word.is_ascii() {
        return vec![word.to_ascii_lowercase()];
    }
    let fold = |s: String| s.chars().map(|c| c.to_ascii_lowercase()).collect::<String>();
    let lower = word.to_lowercase();
    let mut letters = lower.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let mut all = vec![fold(word.to_owned()), fold(lower.clone()), fold(title), fold(word.to_uppercase())];
    all.sort();
    all.dedup();
    all
}

/// The slot of the first three bytes of a keyword.
pub fn slot(a: u8, b: u8, c: u8) -> usize {
    let v = u32::from(a) << 16 | u32::from(b) << 8 | u32::from(c);
    (v.wrapping_mul(0x9E37_79B1) >> (32 - INDEX_BITS)) as usize
}

/// The place of the first four bytes of a keyword in the filter that looks at four.
pub fn slot_of_four(window: u32) -> usize {
    (window.wrapping_mul(0x85EB_CA6B) >> (32 - FOURTH_BITS)) as usize
}

/// The Rust source of all tables.
pub fn render(data: &Data) -> String {
    let mut out = String::new();
    let mut uses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |word: &str, used: String| {
        assert!(word.len() >= 3, "keyword {word:?} is shorter than three bytes");
        for text in spellings(word) {
            let list = uses.entry(text).or_default();
            if !list.contains(&used) {
                list.push(used.clone());
            }
        }
    };
    out.push_str("pub(super) static RULES: &[Rule] = &[\n");
    for (i, rule) in data.rule.iter().enumerate() {
        assert!(!rule.keywords.is_empty(), "rule {} has no keyword", rule.id);
        let max = longest(rule);
        let check = rule.check.as_ref().map_or("Check::None".to_owned(), |c| format!("Check::{}", camel(c)));
        writeln!(
            out,
            "Rule {{ id: {:?}, class: {}, level: {}, pattern: {:?}, entropy: {:?}, check: {check}, back: {}, ahead: {}, open: {}, context: {}, also: &{:?} }},",
            rule.id, class(&rule.class), level(&rule.level), rule.pattern, rule.entropy,
            rule.back, rule.reach + max, rule.open || rule.class == "injection", rule.reach > 0, rule.also,
        )
        .expect("writing to a string");
        rule.keywords.iter().for_each(|word| add(word, format!("Use::Rule({i})")));
    }
    out.push_str("];\npub(super) static NEARS: &[Near] = &[\n");
    for (i, near) in data.near.iter().enumerate() {
        writeln!(
            out,
            "Near {{ id: {:?}, class: {}, level: {}, within: {}, groups: {} }},",
            near.id,
            class(&near.class),
            level(&near.level),
            near.within,
            near.groups.len(),
        )
        .expect("writing to a string");
        assert!((2..=4).contains(&near.groups.len()), "near {} needs two to four groups", near.id);
        for (g, group) in near.groups.iter().enumerate() {
            group.iter().for_each(|word| add(word, format!("Use::Near({i}, {g})")));
        }
    }
    out.push_str("];\n");
    for word in &data.word {
        let used = format!("Use::Cue(Cue::{})", camel(&word.cue));
        word.words.iter().for_each(|text| add(text, used.clone()));
    }
    data.services.iter().for_each(|name| add(name, "Use::Service".to_owned()));
    data.cues.iter().for_each(|text| add(text, "Use::Leet".to_owned()));

    // Keywords in slot order, so that one slot is one slice.
    let mut keywords: Vec<(usize, &String, &Vec<String>)> = uses
        .iter()
        .map(|(text, list)| {
            let b = text.as_bytes();
            (slot(b[0], b[1], b[2]), text, list)
        })
        .collect();
    keywords.sort();
    writeln!(out, "pub(super) static KEYWORDS: &[Keyword] = &[").expect("writing to a string");
    for (_, text, list) in &keywords {
        writeln!(out, "Keyword {{ text: &{:?}, uses: &[{}] }},", text.as_bytes(), list.join(", "))
            .expect("writing to a string");
    }
    let mut starts = vec![0u16; (1 << INDEX_BITS) + 1];
    for (at, ..) in &keywords {
        starts[at + 1] += 1;
    }
    for i in 1..starts.len() {
        starts[i] += starts[i - 1];
    }
    out.push_str("];\n");
    writeln!(out, "pub(super) static STARTS: [u16; {}] = {starts:?};", starts.len())
        .expect("writing to a string");
    let (mut fourth, mut short) = (vec![0u64; 1 << (FOURTH_BITS - 6)], vec![0u64; 1 << (INDEX_BITS - 6)]);
    for (at, text, _) in &keywords {
        match text.as_bytes() {
            [a, b, c, d, ..] => {
                let at = slot_of_four(u32::from_be_bytes([*a, *b, *c, *d]));
                fourth[at >> 6] |= 1 << (at & 63);
            }
            _ => short[at >> 6] |= 1 << (at & 63),
        }
    }
    for (name, bits) in [("FOURTH", fourth), ("SHORT", short)] {
        writeln!(out, "pub(super) static {name}: [u64; {}] = {bits:?};", bits.len())
            .expect("writing to a string");
    }
    for (name, words) in [
        ("PLACEHOLDERS", &data.placeholders),
        ("STAND_INS", &data.stand_ins),
        ("TAILS", &data.tails),
        ("HEADS", &data.heads),
        ("PUBLIC", &data.public),
        ("COPULAS", &data.copulas),
        ("RELAYS", &data.relays),
        ("NOUNS", &data.nouns),
        ("ONTO", &data.onto),
        ("STATES", &data.states),
        ("PLACES", &data.places),
        ("NAMED", &data.named),
        ("USERS", &data.users),
        ("JOINS", &data.joins),
        ("BEFORE", &data.before),
    ] {
        let mut words = words.clone();
        words.sort();
        words.dedup();
        writeln!(out, "pub(super) static {name}: &[&str] = &{words:?};").expect("writing to a string");
    }
    let letters: Vec<u8> = data
        .letters
        .iter()
        .flat_map(|row| row.bytes())
        .map(|b| (b as char).to_digit(16).expect("hex digits") as u8)
        .collect();
    assert_eq!(letters.len(), 26 * 26, "the letter table is 26 by 26");
    writeln!(out, "pub(super) static LETTERS: [u8; 676] = {letters:?};").expect("writing to a string");
    out
}
