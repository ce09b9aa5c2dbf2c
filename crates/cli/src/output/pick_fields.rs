//! Only some fields of an answer: `--fields a,b` and `--format '{id} {title}'`.
//!
//! Comes in: an answer as JSON. Goes out: its rows, each with the fields that were asked for. An answer that is no list is one row. Never here: a field
//! that no row has, which is an error with the names there are.

use heirloom_core::{Code, Fault, fault::Result};
use serde_json::{Map, Value};

/// Lists in answers, by the names of their fields.
const LISTS: [&str; 3] = ["memories", "hits", "items"];

/// The rows of an answer.
fn rows(answer: &Value) -> Vec<&Value> {
    match answer {
        Value::Array(all) => all.iter().collect(),
        Value::Object(fields) => {
            let list = LISTS.iter().find_map(|name| fields.get(*name)).and_then(Value::as_array);
            list.map_or_else(|| vec![answer], |all| all.iter().collect())
        }
        other => vec![other],
    }
}

/// A field of a row: its own, of the memory in it, or by a dotted path.
fn field<'v>(row: &'v Value, name: &str) -> Option<&'v Value> {
    let path = |from: &'v Value| name.split('.').try_fold(from, |at, part| at.get(part));
    row.get(name).or_else(|| path(row)).or_else(|| row.get("memory").and_then(path))
}

/// A value as a person reads it.
fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(all)) => all.iter().map(|one| text(Some(one))).collect::<Vec<_>>().join(","),
        Some(other) => other.to_string(),
    }
}

/// Every name must be one that some row has.
fn known(rows: &[&Value], names: &[String]) -> Result<()> {
    let unknown =
        names.iter().find(|name| !rows.is_empty() && !rows.iter().any(|row| field(row, name).is_some()));
    let Some(name) = unknown else { return Ok(()) };
    let mut there: Vec<String> = Vec::new();
    for row in rows.iter().take(100) {
        for part in [Some(*row), row.get("memory")].into_iter().flatten() {
            there.extend(part.as_object().into_iter().flat_map(Map::keys).cloned());
        }
    }
    there.sort();
    there.dedup();
    Err(Fault::new(Code::Usage, format!("there is no field `{name}` in this answer"))
        .fact("argument", name.clone())
        .hint(format!("use some of {}", there.join(", "))))
}

/// Each row with these fields alone, for programs.
pub(super) fn chosen(answer: &Value, names: &[String]) -> Result<Vec<Value>> {
    let rows = rows(answer);
    known(&rows, names)?;
    let one = |row: &&Value| {
        let value = |name: &String| (name.clone(), field(row, name).cloned().unwrap_or(Value::Null));
        Value::Object(names.iter().map(value).collect())
    };
    Ok(rows.iter().map(one).collect())
}

/// Each row with these fields alone, for people.
pub(super) fn cells(answer: &Value, names: &[String]) -> Result<Vec<Vec<String>>> {
    let rows = rows(answer);
    known(&rows, names)?;
    Ok(rows.iter().map(|row| names.iter().map(|name| text(field(row, name))).collect()).collect())
}

/// A line for each row. `{name}` is a field, `{{` and `}}` are braces, `\t` and `\n` what they usually are.
pub(super) fn lines(answer: &Value, form: &str) -> Result<Vec<String>> {
    let parts = parts(form)?;
    let names: Vec<String> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Field(name) => Some(name.clone()),
            Part::Text(_) => None,
        })
        .collect();
    let rows = rows(answer);
    known(&rows, &names)?;
    let part = |row: &Value, part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Field(name) => heirloom_core::text::one_line(&text(field(row, name))),
    };
    Ok(rows.iter().map(|row| parts.iter().map(|one| part(row, one)).collect()).collect())
}

enum Part {
    Text(String),
    Field(String),
}

fn parts(form: &str) -> Result<Vec<Part>> {
    let wrong = |why: &str| {
        Fault::new(Code::Usage, format!("`--format` cannot be `{form}`: {why}"))
            .hint("write fields in braces, for example --format '{id} {title}'; {{ and }} are braces")
    };
    let (mut parts, mut plain) = (Vec::new(), String::new());
    let mut rest = form;
    while let Some(first) = rest.chars().next() {
        let mut used = first.len_utf8();
        match first {
            '{' if rest.starts_with("{{") => (used, _) = (2, plain.push('{')),
            '}' if rest.starts_with("}}") => (used, _) = (2, plain.push('}')),
            '{' => {
                let end = rest.find('}').ok_or_else(|| wrong("a brace is not closed"))?;
                let name = rest[1..end].trim();
                if name.is_empty() || name.contains('{') {
                    return Err(wrong("a field has no name"));
                }
                parts.push(Part::Text(std::mem::take(&mut plain)));
                parts.push(Part::Field(name.to_owned()));
                used = end + 1;
            }
            '}' => return Err(wrong("a brace is not opened")),
            '\\' if rest.starts_with("\\t") => (used, _) = (2, plain.push('\t')),
            '\\' if rest.starts_with("\\n") => (used, _) = (2, plain.push('\n')),
            other => plain.push(other),
        }
        rest = &rest[used..];
    }
    parts.push(Part::Text(plain));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn fields_come_from_rows_and_from_the_memory_in_a_hit() {
        let listed = json!({ "memories": [{ "id": "a:b", "title": "B", "tags": ["x", "y"] }] });
        assert_eq!(cells(&listed, &names(&["id", "tags"])).unwrap(), [["a:b", "x,y"]]);
        let found =
            json!({ "hits": [{ "score": 1.5, "memory": { "id": "a:b", "fields": { "category": "c" } } }] });
        assert_eq!(lines(&found, "{score} {id} {fields.category}{{}}").unwrap(), ["1.5 a:b c{}"]);
        assert_eq!(chosen(&found, &names(&["id"])).unwrap(), [json!({ "id": "a:b" })]);
        assert_eq!(cells(&json!({ "id": "one" }), &names(&["id"])).unwrap(), [["one"]]);
    }

    #[test]
    fn a_field_that_no_row_has_is_refused_with_those_there_are() {
        let listed = json!([{ "id": "a" }, { "id": "b", "title": "B" }]);
        assert_eq!(cells(&listed, &names(&["title"])).unwrap(), [[""], ["B"]]);
        let fault = lines(&listed, "{nam}").unwrap_err();
        assert_eq!(fault.next_step(), "use some of id, title");
        assert!(cells(&json!([]), &names(&["anything"])).unwrap().is_empty());
    }

    #[test]
    fn a_form_with_a_stray_brace_is_refused() {
        for form in ["{id", "id}", "{}", "{{id}"] {
            assert_eq!(lines(&json!([{ "id": "a" }]), form).unwrap_err().code, Code::Usage, "{form}");
        }
    }
}
