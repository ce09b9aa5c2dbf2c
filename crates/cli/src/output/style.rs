//! Colours, if wanted.

use crate::environment;

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
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
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
