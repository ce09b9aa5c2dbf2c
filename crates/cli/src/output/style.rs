//! Colours, if wanted.
//!
//! Comes in: text and how it should look. Goes out: the same between two marks, which the printer turns into colours after it has spelled out
//! everything else. The marks hold a number nobody outside this process can know, so that no stored text colours or hides itself.

use super::spell::spelled;
use crate::environment;
use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

/// How a mark begins; the code of a colour and an `m` follow.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}{:016x}[", RandomState::new().hash_one("mark")));

/// Text as it is printed: spelled out, with the colours it was given here.
pub(super) fn printed(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return spelled(text);
    }
    let mut parts = text.split(MARK.as_str());
    let mut out = spelled(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let (code, rest) = part.split_once('m').unwrap_or(("0", part));
        out.push_str(&format!("\u{1b}[{code}m{}", spelled(rest)));
    }
    Cow::Owned(out)
}

/// Colours on or off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    on: bool,
}

impl Style {
    /// Colours for a stream that is a terminal, unless the user does not want any.
    pub(crate) fn wanted(terminal: bool) -> Style {
        let forced = environment::text("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let refused = environment::text("NO_COLOR").is_some();
        let dumb = environment::text("TERM").is_some_and(|term| term == "dumb");
        Style { on: !refused && (forced || (terminal && !dumb)) }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("{0}{code}m{text}{0}0m", *MARK) } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }
}
