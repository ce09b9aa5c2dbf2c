//! What a query or a form says: names and values, each name perhaps several times.
//!
//! Comes in: `a=1&b=2` as browsers write it. Goes out: the values of a name. A browser ends lines with CR LF; here they end as in every file. Never
//! here: what any of it means.

use crate::uri;
use std::fmt::Write as _;

/// Pairs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads pairs; one that cannot be read is left out.
    pub(crate) fn read(text: &str) -> Form {
        let decoded =
            |text: &str| uri::decoded(&text.replace('+', " ")).map(|text| text.replace("\r\n", "\n"));
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        };
        Form(text.split('&').filter(|pair| !pair.is_empty()).filter_map(pair).collect())
    }

    /// The first value of a name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The same; nothing where it is blank.
    pub(crate) fn said(&self, name: &str) -> Option<String> {
        self.text(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Every value of a name.
    pub(crate) fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        let name = name.to_owned();
        self.0.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The pairs whose name begins so, without that beginning.
    pub(crate) fn below<'f>(&'f self, prefix: &str) -> impl Iterator<Item = (&'f str, &'f str)> {
        let prefix = prefix.to_owned();
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(&prefix)?, value.as_str())))
    }
}

/// A value as it stands in an address.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte as char),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// The address of a memory's screen.
pub(crate) fn memory(id: &str) -> String {
    format!("/memory?id={}", encoded(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_browser_writes_is_read_back_as_it_was_typed() {
        let typed = "a b&c=d%+ü\"<\n";
        let form = Form::read(&format!("x={}&x=2&field.a=1&bad=%zz", encoded(typed)));
        assert_eq!(form.all("x").collect::<Vec<_>>(), [typed, "2"]);
        assert_eq!(form.below("field.").collect::<Vec<_>>(), [("a", "1")]);
        assert_eq!((form.text("bad"), form.said("y")), (None, None));
        assert_eq!(Form::read("t=a%0D%0Ab+c").text("t"), Some("a\nb c"));
    }
}
