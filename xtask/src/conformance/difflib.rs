//! Pairs of texts with the ratio of Python's sequence matcher.
//!
//! Comes in: one pair. Goes out: whether both ratios are the same to the last bit; where they are not, the blocks say where.

use super::Outcome;
use heirloom_core::text::{blocks, ratio};
use serde_json::Value;

/// Runs one case.
pub(crate) fn run(case: &Value) -> Outcome {
    if case["op"] != "difflib_ratio" {
        return Outcome::Unknown;
    }
    let (Some(a), Some(b)) = (case["a"].as_str(), case["b"].as_str()) else {
        return Outcome::Differs { expected: "two texts".to_owned(), got: "a case without".to_owned() };
    };
    let expected = [case["ratio"].as_f64(), case["ratio_reversed"].as_f64()];
    let got = [Some(ratio(a, b)), Some(ratio(b, a))];
    if expected == got {
        return Outcome::Agrees;
    }
    Outcome::Differs {
        expected: format!("{expected:?} with {}", case["blocks"]),
        got: format!("{got:?} with {:?}", blocks(a, b)),
    }
}
