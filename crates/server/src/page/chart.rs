//! Bars over days, drawn on the server.
//!
//! Comes in: a number for each day. Goes out: an SVG with a text that says the same, so that nobody needs to see it. Never here: a script, a colour
//! (those are the style sheet's).

use maud::{Markup, html};

const WIDE: usize = 300;
const HIGH: usize = 56;

/// Bars, oldest first; each with its date.
pub(crate) fn bars(title: &str, class: &str, days: &[(String, u32)]) -> Markup {
    let most = days.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let total: u64 = days.iter().map(|(_, count)| u64::from(*count)).sum();
    let step = WIDE / days.len().max(1);
    let high = |count: u32| if count == 0 { 1 } else { (count as usize * (HIGH - 2) / most as usize).max(3) };
    let (first, last) =
        (days.first().map_or("", |day| day.0.as_str()), days.last().map_or("", |day| day.0.as_str()));
    html! {
        figure.chart {
            figcaption { (title) " " span.dim { (total) " in " (days.len()) " days" } }
            svg class=(class) viewBox=(format!("0 0 {WIDE} {HIGH}")) role="img" preserveAspectRatio="none"
                aria-label=(format!("{title}: {total} from {first} to {last}, at most {most} on a day")) {
                @for (at, (day, count)) in days.iter().enumerate() {
                    rect class=[(*count == 0).then_some("none")] x=(at * step) y=(HIGH - high(*count)) width=(step.saturating_sub(2).max(1)) height=(high(*count)) {
                        title { (day) ": " (count) }
                    }
                }
            }
            p.axis.dim { span { (first) } span { (last) } }
        }
    }
}
