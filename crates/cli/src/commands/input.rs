//! Input that a command takes from a file or from standard input.

use heirloom_core::{Code, Fault, fault::Result};
use std::io::Read as _;
use std::path::Path;

/// The largest input.
const MAX_INPUT: u64 = 8 << 20;

/// The bytes of a file; `-` is standard input.
pub(crate) fn bytes(file: &str) -> Result<Vec<u8>> {
    let bad = |why: String| {
        Fault::new(Code::Input, format!("`{file}` cannot be taken: {why}"))
            .fact("path", file)
            .hint("name a readable file, or `-` for standard input")
    };
    if file != "-" {
        return heirloom_engine::files::read(Path::new(file), MAX_INPUT).map_err(|fault| bad(fault.message));
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT + 1).read_to_end(&mut bytes).map_err(|e| bad(e.to_string()))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(bad(format!("more than {MAX_INPUT} bytes")));
    }
    Ok(bytes)
}

/// The same as text.
pub(crate) fn text(file: &str) -> Result<String> {
    String::from_utf8(bytes(file)?).map_err(|_| {
        Fault::new(Code::Input, format!("`{file}` is not UTF-8 text"))
            .fact("path", file)
            .hint("save it as UTF-8 and try again")
    })
}
