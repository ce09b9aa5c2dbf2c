use super::*;
use proptest::prelude::*;

fn line(id: &str, version: i64, text: &str) -> String {
    format!(
        r#"{{"id": "{id}", "version": {version}, "created_at": "", "updated_at": null, "tier": "canon", "source": null, "scope": "shared", "category": "other", "tags": [], "deleted_at": null, "text": "{text}"}}"#
    )
}

fn texts(resolved: &Resolved<'_>) -> Vec<String> {
    resolved.all().map(|held| held.record.text.into_owned()).collect()
}

#[test]
fn the_highest_version_counts_and_the_earlier_of_two() {
    let file = [
        line("a", 1, "one"),
        line("b", 1, "other"),
        line("a", 3, "three"),
        line("a", 3, "late"),
        line("a", 2, "two"),
    ]
    .join("\n");
    let image = Image::of(file.as_bytes());
    assert_eq!(texts(&image.resolve()), ["three", "other"]);
    assert_eq!(image.lines(), 5);
    let twins = image.twins();
    assert_eq!(twins.len(), 1);
    assert_eq!((twins[0].0.number, twins[0].1.number), (3, 4));
    let versions: Vec<usize> = image.versions("a").iter().map(|held| held.number).collect();
    assert_eq!(versions, [1, 5, 3, 4]);
}

#[test]
fn the_same_line_twice_is_no_twin() {
    let file = [line("a", 1, "one"), line("a", 1, "one"), line("a", 1, "one").replace(": ", ":")].join("\n");
    assert!(Image::of(file.as_bytes()).twins().is_empty());
}

#[test]
fn a_line_that_cannot_be_read_costs_only_itself() {
    let whole = line("a", 2, "whole");
    let torn = &line("a", 3, "torn")[..60];
    let not_utf8 = b"{\"id\": \"c\", \"version\": 1, \"text\": \"\xff\"}".as_slice();
    let mut file = format!("garbage\n{}\n\n{whole}\n{torn}\n", line("a", 1, "old")).into_bytes();
    file.extend_from_slice(not_utf8);
    file.extend_from_slice(format!("\n{}", line("b", 1, "last, without a line break")).as_bytes());
    let image = Image::of(&file);
    let resolved = image.resolve();
    assert_eq!(texts(&resolved), ["whole", "last, without a line break"]);
    let numbers: Vec<usize> = resolved.broken.iter().map(|b| b.number).collect();
    assert_eq!(numbers, [1, 5, 6]);
    assert_eq!(image.broken().iter().map(|b| b.number).collect::<Vec<_>>(), numbers);
    assert_eq!(resolved.broken[1].why, "the line ends too early");
}

#[test]
fn a_line_with_a_key_twice_is_unreadable_and_says_which() {
    let file = format!("{}\n{}", line("a", 1, "x").replace("\"tier\"", "\"scope\""), line("a", 1, "y"));
    let resolved = Image::of(file.as_bytes()).resolve();
    assert_eq!(texts(&resolved), ["y"]);
    assert_eq!(resolved.broken[0].why, "`scope` occurs twice");
}

#[test]
fn a_byte_order_mark_carriage_returns_and_missing_keys_are_no_obstacle() {
    let file = "\u{feff}{\"id\":\"old123\",\"text\":\"t\",\"extra\":[1]}\r\n\r\n{\"id\": \"b\", \"version\": 2, \"text\": \"u\"}\r\n";
    let resolved = Image::of(file.as_bytes()).resolve();
    let records: Vec<Record<'_>> = resolved.all().map(|held| held.record).collect();
    assert_eq!(records.len(), 2);
    assert_eq!(
        (records[0].version, records[0].tier.as_ref(), records[0].scope.as_ref()),
        (1, "canon", "shared")
    );
    assert!(resolved.broken.is_empty());
}

/// Records of any content, with few ids and versions so that they meet.
fn records() -> impl Strategy<Value = Vec<Record<'static>>> {
    let text = || "(\\PC|\n|\"|\\\\|\t|\u{1}){0,20}";
    let one = (
        prop::sample::select(vec!["a", "b", "0123456789ab", "a-long-id-of-more-than-sixteen"]),
        1i64..4,
        text(),
        prop::collection::vec(text(), 0..3),
        prop::option::of(text()),
        prop::option::of(Just("2026-01-01T00:00:00Z".to_owned())),
    );
    let record = one.prop_map(|(id, version, text, tags, topic, deleted)| Record {
        id: id.into(),
        version,
        created_at: "2026-01-01T00:00:00Z".into(),
        updated_at: None,
        tier: "register".into(),
        topic_id: topic.map(Into::into),
        source: Some("manual".into()),
        scope: "shared".into(),
        category: "other".into(),
        tags: tags.into_iter().map(Into::into).collect(),
        deleted_at: deleted.map(Into::into),
        text: text.into(),
    });
    prop::collection::vec(record, 0..12)
}

proptest! {
    #[test]
    fn a_record_survives_its_line(all in records()) {
        for record in all {
            let line = record.line();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(&Record::parse(line.as_bytes()).unwrap(), &record);
            // The JSON parser, asked on a line the quick reader does not take, says the same.
            let spread = line.replacen("{\"id\": ", "{ \"id\": ", 1);
            prop_assert_eq!(&Record::parse(spread.as_bytes()).unwrap(), &record);
        }
    }

    #[test]
    fn resolving_is_what_the_format_says(all in records()) {
        let file: String = all.iter().map(|r| r.line() + "\n").collect();
        let mut plain: Vec<&Record<'_>> = Vec::new();
        for record in &all {
            match plain.iter_mut().find(|known| known.id == record.id) {
                None => plain.push(record),
                Some(known) if record.version > known.version => *known = record,
                Some(_) => {}
            }
        }
        let image = Image::of(file.as_bytes());
        let resolved: Vec<Record<'_>> = image.resolve().all().map(|held| held.record).collect();
        prop_assert_eq!(resolved.iter().collect::<Vec<_>>(), plain);
        prop_assert!(image.broken().is_empty());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), all in records(), cut in 0usize..400) {
        let mut file: Vec<u8> = all.iter().flat_map(|r| (r.line() + "\n").into_bytes()).collect();
        file.truncate(cut);
        file.extend(bytes);
        let image = Image::of(&file);
        let resolved = image.resolve();
        prop_assert!(resolved.all().count() == resolved.len());
        prop_assert!(resolved.broken.len() <= image.broken().len());
        prop_assert!(image.broken().len() + image.readable().count() == image.lines());
        let _ = image.twins();
    }
}
