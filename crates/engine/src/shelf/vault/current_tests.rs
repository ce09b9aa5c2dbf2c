use super::*;

fn line(id: usize, version: usize, filler: usize) -> String {
    format!(
        "{{\"id\": \"{id:012x}\", \"version\": {version}, \"created_at\": \"\", \"updated_at\": null, \"tier\": \"canon\", \"source\": null, \
         \"scope\": \"shared\", \"category\": \"other\", \"tags\": [], \"deleted_at\": null, \"text\": \"{}\"}}\n",
        format!("{id}/{version} ").repeat(filler)
    )
}

/// A vault of more than the limit, in which most lines no longer count and every fifth memory is retired.
fn large() -> String {
    let retired = |line: String| line.replace("\"deleted_at\": null", "\"deleted_at\": \"2026-01-01\"");
    let one = |n: usize| match n % 1501 % 5 {
        0 if n >= 17_000 => retired(line(n % 1501, 1 + n / 1501, 8 + n % 9)),
        _ => line(n % 1501, 1 + n / 1501, 8 + n % 9),
    };
    let file: String = (0..20_000).map(one).collect();
    assert!(file.len() as u64 > LARGE);
    file
}

fn compare(text: &[u8], through_a_buffer: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vault.jsonl");
    std::fs::write(&path, text).unwrap();
    let current = Current::read(&path).unwrap();
    assert_eq!(matches!(current.0, Kept::Picked(_)), through_a_buffer);
    let (view, image) = (current.view(), Image::of(text));
    let whole = image.resolve();
    assert_eq!((view.lines, view.ids), (image.lines(), whole.len()));
    assert!(view.active().eq(whole.active()));
    for held in whole.all() {
        let retired =
            view.retired(&held.record.id).map(|one| (one.record.into_owned(), one.bytes.into_owned()));
        let plain = (!held.record.is_active()).then(|| (held.record.into_owned(), held.bytes.to_owned()));
        assert_eq!(retired, plain);
    }
    assert!(view.knows("0000000005dc") && !view.knows("ffffffffffff"));
}

#[test]
fn a_large_vault_read_through_a_buffer_is_the_same_vault() {
    compare(large().as_bytes(), true);
    let mut open_end = large();
    open_end.truncate(open_end.len() - 1);
    compare(open_end.as_bytes(), true);
    let blank_lines = large().replacen('\n', "\n\n  \n", 900);
    compare(blank_lines.as_bytes(), true);
}

#[test]
fn ids_longer_than_ours_and_other_layouts_are_the_same_too() {
    let odd = "{\"text\":\"x\",\"id\":\"an-id-that-is-longer-than-fifteen-bytes\",\"version\":2}\n";
    compare((odd.to_owned() + &large() + odd + &odd.replace(":2", ":7")).as_bytes(), true);
}

#[test]
fn anything_unusual_is_looked_at_line_by_line() {
    compare((large() + "torn").as_bytes(), false);
    compare(("garbage\n".to_owned() + &large()).as_bytes(), false);
    compare(("\u{feff}".to_owned() + &large()).as_bytes(), false);
    let unreadable_best = large() + &line(3, 99, 1).replace("\"tags\": []", "\"tags\": 5");
    compare(unreadable_best.as_bytes(), false);
    compare((large() + &line(1, 1000, 60_000)).as_bytes(), false);
}

#[test]
fn lines_that_begin_and_end_where_stretches_do_are_the_same_too() {
    let even = |width: usize| -> String {
        let padded = |n: usize| {
            let line = line(n % 1501, 1 + n / 1501, 1);
            let (record, _) = line.split_at(line.len() - 3);
            format!("{record:.<0$}\"}}\n", width - 3)
        };
        (0..LARGE as usize / width + 900).map(padded).collect()
    };
    for width in [256, 512] {
        compare(even(width).as_bytes(), true);
        compare(("\n".to_owned() + &even(width)).as_bytes(), true);
        compare(even(width).trim_end().as_bytes(), true);
    }
}

#[test]
fn lines_that_would_take_more_room_than_they_have_are_looked_at_line_by_line() {
    compare((large() + &"\n".repeat(600_000)).as_bytes(), false);
    let foreign = |n: usize| format!("{{\"text\":\"{:50}\",\"id\":\"{}\"}}\n", "", n % 7);
    compare((large() + &(0..150_000).map(foreign).collect::<String>()).as_bytes(), false);
}

#[test]
fn no_file_is_an_empty_vault() {
    let current = Current::read(Path::new("/nonexistent/vault.jsonl")).unwrap();
    assert_eq!((current.view().ids, current.view().lines), (0, 0));
}
