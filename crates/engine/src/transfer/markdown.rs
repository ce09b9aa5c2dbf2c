//! What people and agents write into Markdown files about a project: rules in lists, memories in sections.
//!
//! Comes in: a file's text. Goes out: its sections, the fields of its front matter, what stands behind a list mark. One pass each. Never here:
//! code, comments, or deciding what becomes of any of it.

/// The fields of a front matter that are plain text, one a line, at any depth; and the text behind it.
pub(super) fn front_matter(text: &str) -> (Vec<(&str, &str)>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else { return (Vec::new(), text) };
    let mut at = first.len();
    let mut fields = Vec::new();
    for line in lines {
        at += line.len();
        if is_fence(line) {
            return (fields, &text[at..]);
        }
        if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim(), value.trim().trim_matches(['"', '\''])));
        }
    }
    // It never ends, so it is none.
    (Vec::new(), text)
}

/// A part of a file below a heading.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// The heading without its marks; empty before the first one.
    pub(super) title: &'a str,
    /// Heading and text.
    pub(super) text: &'a str,
}

/// The parts of a file, one for every heading of the two highest levels.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut starts = vec![0];
    let mut fence = Fence::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let in_code = fence.see(line);
        if !in_code && at > 0 && (line.starts_with("# ") || line.starts_with("## ")) {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(text.len());
    let part = |pair: &[usize]| {
        let text = text[pair[0]..pair[1]].trim();
        let heading = text.lines().next().filter(|line| line.starts_with('#')).unwrap_or_default();
        Section { title: heading.trim_start_matches('#').trim(), text }
    };
    starts.windows(2).map(part).filter(|section| !section.text.is_empty()).collect()
}

/// The text behind a list mark.
pub(super) fn marked(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => ["- [ ] ", "- [x] ", "- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)),
        1..=3 => line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") ")),
        _ => None,
    };
    rest.map(str::trim).filter(|rest| !rest.is_empty())
}

/// Whether a line is in a fenced block.
#[derive(Default)]
struct Fence {
    open: bool,
}

impl Fence {
    fn see(&mut self, line: &str) -> bool {
        let marks = ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark));
        let inside = self.open || marks;
        self.open ^= marks;
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sections_begin_at_headings_outside_code() {
        let text = "intro\n# A\nx\n```\n# no\n```\n## B\ny\n### C\nz\n";
        let titles: Vec<&str> = sections(text).iter().map(|section| section.title).collect();
        assert_eq!(titles, ["", "A", "B"]);
        assert_eq!(sections(text)[2].text, "## B\ny\n### C\nz");
    }

    #[test]
    fn front_matter_is_read_at_any_depth_and_must_end() {
        let (fields, body) = front_matter("---\nname: a\nmetadata:\n  type: \"feedback\"\n---\nText\n");
        assert_eq!(fields, [("name", "a"), ("metadata", ""), ("type", "feedback")]);
        assert_eq!(body, "Text\n");
        assert_eq!(front_matter("---\nname: a\n"), (vec![], "---\nname: a\n"));
        assert_eq!(front_matter("no"), (vec![], "no"));
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart_without_loss_of_boundaries(text in "(\\PC|\n|# |- |```|---|<!--){0,60}") {
            let _ = front_matter(&text);
            let total: usize = sections(&text).iter().map(|section| section.text.len()).sum();
            prop_assert!(total <= text.len());
        }
    }
}
