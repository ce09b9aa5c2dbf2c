//! Forgetting on PostgreSQL: what the files of the tables hold afterwards.

use crate::server::{Release, Server};
use crate::story::{set_up, team};
use heirloom_engine::shelf::tiers::story::{OWNER, PERSON, Stage, tiers};
use heirloom_engine::shelf::tiers::{FactWords, Role, Turn};
use heirloom_postgres::PgStore;
use std::path::Path;
use std::sync::Arc;

/// The files below a folder that hold a word.
fn holders(folder: &Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holders(&path, word));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(word.len()).any(|w| w.eq_ignore_ascii_case(word.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn what_was_shredded_is_in_no_relation_file_any_more() {
    for release in [Release::Sixteen, Release::Eighteen] {
        let server = Server::start(release, &["fsync=off"]);
        let address = set_up(&server, "shred");
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
        let call = stage.of("ada");
        for n in 0..60 {
            let odd = if n % 7 == 0 { "quuxocelot" } else { "plain" };
            // Long enough for some to be stored out of line.
            let text = format!("turn {n} about {odd} {}", "and more words ".repeat(n * 10));
            tiers(&call).add_episode(Turn::of(Role::User, text), OWNER).unwrap();
        }
        let fact =
            tiers(&call).remember(FactWords::of("My totem is the xyloquokka"), PERSON).unwrap().stored.id;
        tiers(&call).add_episode(Turn::of(Role::User, "the wombatquux stays"), OWNER).unwrap();
        server.sql("shred", "analyze; checkpoint");
        let base = server.data().join("base");
        assert!(!holders(&base, "quuxocelot").is_empty() && !holders(&base, "xyloquokka").is_empty());
        let ids: Vec<String> =
            tiers(&call).about_topic("quuxocelot").unwrap().into_iter().map(|m| m.id).collect();
        tiers(&call).forget_topic("quuxocelot", &ids).unwrap();
        tiers(&call).delete(&[fact], "forget").unwrap();
        let said = tiers(&call).scrub(false).unwrap().join(" ");
        assert!(said.contains("team shred") && said.contains("backups"), "{said}");
        // The application owns no table: rewriting them is an operator's.
        assert!(tiers(&call).scrub(true).unwrap().join(" ").contains("nothing was rewritten"));
        let left = team(&server.address("keeper", "shred")).shred().unwrap();
        assert!(left.iter().all(|line| line.contains("backups")), "{left:?}");
        for word in ["quuxocelot", "xyloquokka"] {
            assert_eq!(holders(&base, word), [""; 0], "{word} in {release:?}");
            assert_eq!(holders(&server.data().join("global"), word), [""; 0]);
        }
        assert!(!holders(&base, "wombatquux").is_empty(), "the rest is still there");
        let found = tiers(&call).search("wombatquux", None, 5).unwrap();
        assert!(found[0].memory.content.contains("wombatquux"), "and is found");
    }
}
