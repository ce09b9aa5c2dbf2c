//! The two fields of a record that recall asks for, read without building the rest.
//!
//! Comes in: a record's bytes. Goes out: its status and when it was updated, as [`Document`] would say them. Never here: whether the
//! record is valid.

use super::document::Document;
use heirloom_core::{Status, time};
use jiff::Timestamp;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// What recall asks of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Glance {
    /// The status; `None` if it is none we know.
    pub status: Option<Status>,
    /// When it was updated, if it says so.
    pub updated_at: Option<Timestamp>,
}

impl Glance {
    /// `None` if the bytes are no record.
    pub fn of(bytes: &[u8]) -> Option<Glance> {
        let plain = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = serde_json::Deserializer::from_slice(plain);
        let found = reader.deserialize_map(Fields).and_then(|fields| reader.end().map(|()| fields));
        let (status, updated) = match found {
            Ok(fields) => fields,
            // What is unusual gets the long look.
            Err(_) => {
                let document = Document::parse(bytes).ok()?;
                (document.get("record_status").cloned(), document.get("updated_at").cloned())
            }
        };
        let status = match status.filter(|value| !value.is_null()) {
            None => Some(Status::Active),
            Some(value) => value.as_str().and_then(Status::named),
        };
        let updated_at = updated.as_ref().and_then(Value::as_str).and_then(time::parse);
        Some(Glance { status, updated_at })
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = (Option<Value>, Option<Value>);

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut status, mut updated) = (None, None);
        // Of a field that is there twice the last one counts, as in every other reader.
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match key.as_ref() {
                "record_status" => status = Some(map.next_value()?),
                "updated_at" => updated = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok((status, updated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(bytes: &[u8]) -> Option<Glance> {
        let document = Document::parse(bytes).ok()?;
        let updated_at = document.text("updated_at").and_then(time::parse);
        Some(Glance { status: document.status(), updated_at })
    }

    #[test]
    fn a_glance_sees_what_a_whole_reading_sees() {
        for text in [
            r#"{"record_status":"retired","updated_at":"2026-01-10T09:00:00Z"}"#,
            r#"{"record_status":null,"updated_at":5,"x":{"record_status":"retired"}}"#,
            r#"{"record_status":"retired","record_status":"active"}"#,
            r#"{"record\u005fstatus":"retired"}"#,
            r#"{"record_status":["retired"]}"#,
            r#"{"n":NaN,"record_status":"archived","m":1e999}"#,
            "\u{feff}{\"record_status\":\"retired\"}",
            "[]",
            "{} x",
            "",
            "{",
        ] {
            assert_eq!(Glance::of(text.as_bytes()), told(text.as_bytes()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_seen_as_a_whole_reading_sees_it(
            text in r#"(\{|\}|"record_status"|"updated_at"|:|,|"retired"|"active"|"2026-01-10T09:00:00Z"|null|1|\[|\]){0,12}"#,
        ) {
            prop_assert_eq!(Glance::of(text.as_bytes()), told(text.as_bytes()));
        }
    }
}
