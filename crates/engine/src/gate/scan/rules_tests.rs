//! Walks every rule of the data files: its pattern compiles, its examples are found by it, its
//! counter-examples are not.

use super::{Scanner, rules};
use std::{fs, path::Path};

#[path = "tables.rs"]
#[allow(dead_code, reason = "the test reads the data and renders nothing")]
mod tables;

fn data() -> tables::Data {
    let mut data = tables::Data::default();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gate/rules");
    let mut files: Vec<_> = fs::read_dir(dir)
        .expect("the rule data")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    for file in files {
        data.absorb(
            toml::from_str(&fs::read_to_string(&file).expect("a readable file")).expect("valid rule data"),
        );
    }
    data
}

/// Fills `{w:36}` and its like with characters drawn from a fixed sequence.
fn fill(template: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        out.push_str(before);
        let close = after.find('}').filter(|&c| c <= 7 && after.as_bytes().get(2) == Some(&b':'));
        let set: Option<(&str, usize)> = close.and_then(|c| {
            let set = match &after[1..2] {
                "w" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "l" => "abcdefghijklmnopqrstuvwxyz0123456789",
                "u" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
                "s" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
                "b" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                "h" => "0123456789abcdef",
                "H" => "0123456789ABCDEF",
                "d" => "0123456789",
                "a" => "abcdefghijklmnopqrstuvwxyz",
                "A" => "ABCDEFGHJKLMNPQRSTUVWXYZ",
                "t" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                _ => return None,
            };
            after[3..c].parse().ok().map(|n| (set, n))
        });
        match (set, close) {
            (Some((set, n)), Some(c)) => {
                for _ in 0..n {
                    out.push(char::from(set.as_bytes()[(next() % set.len() as u64) as usize]));
                }
                rest = &after[c + 1..];
            }
            _ => {
                out.push('{');
                rest = &after[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Which rules match a text, before findings are merged.
fn matching(text: &str) -> Vec<&'static str> {
    let mut raw = Vec::new();
    super::pass(text.as_bytes(), super::Aim::All, &mut raw);
    raw.iter().map(|r| r.rule).collect()
}

#[test]
fn every_example_is_found_by_its_rule() {
    let mut missed = Vec::new();
    for rule in data().rule {
        assert!(!rule.examples.is_empty(), "rule {} has no example", rule.id);
        for example in &rule.examples {
            // Filled by chance, a token may lack entropy or read like words: most must be found.
            let found =
                (1..=9).filter(|seed| matching(&fill(example, *seed)).contains(&rule.id.as_str())).count();
            if found < 7 {
                missed.push(format!("{}: {example} ({found} of 9)", rule.id));
            }
        }
    }
    assert!(missed.is_empty(), "not found:\n{}", missed.join("\n"));
}

#[test]
fn no_counter_example_is_found_by_its_rule() {
    for rule in data().rule {
        for example in &rule.counter_examples {
            let text = fill(example, 5);
            assert!(!matching(&text).contains(&rule.id.as_str()), "rule {} finds {text:?}", rule.id);
        }
    }
}

#[test]
fn every_near_rule_finds_its_examples() {
    for near in data().near {
        assert!(!near.examples.is_empty(), "near {} has no example", near.id);
        for example in &near.examples {
            assert!(matching(example).contains(&near.id.as_str()), "near {} misses {example:?}", near.id);
        }
    }
}

#[test]
fn rule_names_are_unique() {
    let mut names: Vec<_> =
        rules::RULES.iter().map(|r| r.id).chain(rules::NEARS.iter().map(|n| n.id)).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn ordinary_notes_are_left_alone() {
    let scanner = Scanner::standard();
    for text in [
        "The primary key of the table is (tenant, id); the cache key must include both.",
        "Fixed in 3f9a1c2e4b5d6f708192a3b4c5d6e7f8091a2b3c, see also the changelog.",
        "ISBN 978-3-16-148410-0, epoch 1717171717171, build 20240131120000",
        "Bearer of news: password resets are handled by the notifications worker.",
        "token_type is always \"bearer \" in the response",
        "export DB_PASSWORD=\"${DB_PASSWORD}\" # from the vault",
        "password: changeme (placeholder, the installer rewrites it)",
        "/usr/local/share/applications/mimeapps.list.d/defaults-and-overrides.conf",
        "integrity sha512-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU5Gh4HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUQ==",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Yb4xvV2nq4yE8xkq3v0aQy1w2e3r4t5y6u7i8o9p0 ops@build",
    ] {
        let found = scanner.scan(text);
        assert!(found.iter().all(|f| f.class == super::Class::Contact), "{text:?}: {found:?}");
    }
}
