//! The picture in `README.md`: a terminal session as an SVG, made from what the program really prints.
//!
//! Comes in: the program. Goes out: one file that plays for half a minute in a browser and shows everything where nothing moves. Never here: an output that
//! was typed by hand, or a time of day.

use crate::tour::{Stage, masked};
use std::fmt::Write as _;
use std::path::Path;

/// What is typed, and for how many seconds it is looked at.
const SESSION: [(&str, f64); 5] = [
    ("heirloom init", 3.0),
    ("heirloom add decision \"Use PostgreSQL for orders because we need row locks\"", 5.0),
    ("heirloom add decision \"Deploy with $GITHUB_TOKEN because it is quick\"", 6.0),
    ("heirloom recall \"which database do orders use?\"", 8.0),
    ("heirloom review list", 6.0),
];
/// Characters in a line, pixels of a character and of a line.
const COLUMNS: usize = 92;
const CHARACTER: f64 = 8.4;
const LINE: usize = 20;
const EDGE: usize = 24;

/// The picture.
pub(crate) fn drawn(heirloom: &Path) -> Result<String, String> {
    let stage = Stage::new(heirloom)?;
    let mut lines: Vec<(f64, &'static str, String)> = Vec::new();
    let mut at = 0.5;
    for (command, seconds) in SESSION {
        for part in wrapped(&format!("$ {command}")) {
            lines.push((at, "typed", part));
        }
        let shown =
            masked(&stage.run(command)?).replace("<day><time>", "2026-11-18").replace("<day>", "2026-11-18");
        for line in shown.trim_end().lines() {
            let class = match line {
                line if line.starts_with("error:") => "bad",
                line if line.starts_with("saved") || line.starts_with("created") => "good",
                line if line.starts_with("  ") => "dim",
                _ => "said",
            };
            lines.extend(wrapped(line).into_iter().map(|part| (at + 0.7, class, part)));
        }
        lines.push((at + 0.7, "said", String::new()));
        at += seconds;
    }
    lines.pop();
    Ok(svg(&lines))
}

/// A line in pieces that fit.
fn wrapped(line: &str) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    match letters.is_empty() {
        true => vec![String::new()],
        false => letters.chunks(COLUMNS).map(|part| part.iter().collect()).collect(),
    }
}

fn svg(lines: &[(f64, &str, String)]) -> String {
    let width = (COLUMNS as f64 * CHARACTER) as usize + 2 * EDGE;
    let height = lines.len() * LINE + 2 * EDGE + LINE;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"A terminal session with Heirloom\">\n\
         <!-- Made by `cargo xtask generate` from what the program prints; edits are lost. -->\n\
         <style>\n\
         text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #c9d1d9; }}\n\
         .typed {{ fill: #ffffff; font-weight: bold; }} .good {{ fill: #7ee787; }} .bad {{ fill: #ff7b72; }} .dim {{ fill: #8b949e; }}\n\
         g {{ animation: come 0.3s both; }} @keyframes come {{ from {{ opacity: 0; }} to {{ opacity: 1; }} }}\n\
         @media (prefers-reduced-motion: reduce) {{ g {{ animation: none; }} }}\n\
         </style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>\n"
    );
    for (dot, colour) in ["#ff5f56", "#ffbd2e", "#27c93f"].into_iter().enumerate() {
        let _ = writeln!(out, "<circle cx=\"{}\" cy=\"18\" r=\"6\" fill=\"{colour}\"/>", EDGE + dot * 20);
    }
    for (n, (at, class, text)) in lines.iter().enumerate().filter(|(_, (_, _, text))| !text.is_empty()) {
        let y = EDGE + LINE + n * LINE + 10;
        let _ = writeln!(
            out,
            "<g style=\"animation-delay: {at:.1}s\"><text x=\"{EDGE}\" y=\"{y}\" class=\"{class}\" xml:space=\"preserve\">{}</text></g>",
            escaped(text)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_escapes_what_is_shown_and_shows_all_of_it() {
        let picture = svg(&[(0.0, "said", "<b> & c".to_owned()), (1.0, "bad", "error: x".to_owned())]);
        assert!(picture.contains("&lt;b&gt; &amp; c") && picture.contains("class=\"bad\""));
        assert_eq!(wrapped(&"x".repeat(200)).len(), 3);
    }
}
