//! `embed`: texts to vectors, for the script that makes the built-in model.
//!
//! Comes in: a weight file, one text a line on standard input. Goes out: vectors as little-endian floats on standard output. Never here: anything
//! else on standard output.

use crate::Outcome;
use heirloom_engine::index::embed::minilm::MiniLm;
use heirloom_engine::index::embed::{Detail, Embedder as _};
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;

/// Texts embedded together.
const TOGETHER: usize = 64;

pub(crate) fn run(words: &[String]) -> Outcome {
    let [file] = words else { return Err("name the weight file".to_owned()) };
    let model = MiniLm::open(Path::new(file), NonZeroUsize::MIN).map_err(|e| e.to_string())?;
    let lines: Vec<String> = std::io::stdin().lines().collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let mut out = std::io::stdout().lock();
    for part in lines.chunks(TOGETHER) {
        let texts: Vec<&str> = part.iter().map(String::as_str).collect();
        for embedding in model.embed(&texts, Detail::Pooled).map_err(|e| e.to_string())? {
            let bytes: Vec<u8> = embedding.vector.iter().flat_map(|x| x.to_le_bytes()).collect();
            out.write_all(&bytes).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}
