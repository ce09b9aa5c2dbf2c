//! How near two vectors are.
//!
//! Comes in: two vectors. Goes out: their cosine, 0 if one of them is all zeros, nothing if they are of different spaces. Never here: where
//! vectors come from.

/// The cosine of two vectors; `None` if their lengths differ.
pub fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    Some(if norms > 0.0 { dot(a, b) / norms } else { 0.0 })
}
