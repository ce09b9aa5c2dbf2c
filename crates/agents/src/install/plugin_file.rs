//! OpenCode's plugin: one small file that pipes events to this program and does what the answer says.
//!
//! Comes in: the program's path. Goes out: the file's text. Never here: a file somebody else wrote; a file is ours if its first
//! line says so.

use super::{Called, refused};
use crate::table::OPENCODE;
use heirloom_core::fault::Result;

const MARK: &str = "// Written by `heirloom setup`; removed by `heirloom setup --uninstall`.";

const SOURCE: &str = include_str!("opencode.ts");

pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(MARK)
}

pub(super) fn install(text: Option<&str>, called: Called<'_>) -> Result<String> {
    if text.is_some_and(|text| !is_ours(text)) {
        return Err(refused(&OPENCODE, "there is another plugin of that name"));
    }
    // A JSON string is a TypeScript string.
    let program = serde_json::Value::from(called.program).to_string();
    let source = SOURCE.replace("\"HEIRLOOM\"", &program);
    let source = if called.everywhere {
        source.replace("\"--installed\"", "\"--installed\", \"--everywhere\"")
    } else {
        source
    };
    Ok(format!("{MARK}\n{source}"))
}

pub(super) fn remove(text: &str) -> Result<Option<String>> {
    Ok((!is_ours(text)).then(|| text.to_owned()))
}
