//! Figures of a server, as Prometheus reads them.
//!
//! Comes in: what became of each request. Goes out: a text. Routes are named as they are documented, never as they were asked for: a path may hold
//! what somebody remembers. Never here: a user's name, a token, an id.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the steps of durations, in seconds.
const STEPS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];

#[derive(Debug, Default)]
struct Times {
    steps: [u64; STEPS.len()],
    count: u64,
    seconds: f64,
}

/// The figures.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, &'static str, u16), u64>>,
    times: Mutex<BTreeMap<&'static str, Times>>,
    pub(crate) connections: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) overloaded: AtomicU64,
}

impl Metrics {
    /// Counts a request.
    pub(crate) fn count(&self, method: &'static str, route: &'static str, status: u16, took: Duration) {
        *self
            .requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry((method, route, status))
            .or_default() += 1;
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let times = times.entry(route).or_default();
        let seconds = took.as_secs_f64();
        times.count += 1;
        times.seconds += seconds;
        for (step, upto) in times.steps.iter_mut().zip(STEPS) {
            *step += u64::from(seconds <= upto);
        }
    }

    /// The figures as a text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from(
            "# HELP heirloom_requests_total Requests by route and status.\n# TYPE heirloom_requests_total counter\n",
        );
        for ((method, route, status), count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner)
        {
            let _ = writeln!(
                text,
                "heirloom_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}} {count}"
            );
        }
        text.push_str("# HELP heirloom_request_seconds How long requests took.\n# TYPE heirloom_request_seconds histogram\n");
        for (route, times) in &*self.times.lock().unwrap_or_else(PoisonError::into_inner) {
            for (count, upto) in times.steps.iter().zip(STEPS) {
                let _ = writeln!(
                    text,
                    "heirloom_request_seconds_bucket{{route=\"{route}\",le=\"{upto}\"}} {count}"
                );
            }
            let _ = writeln!(
                text,
                "heirloom_request_seconds_bucket{{route=\"{route}\",le=\"+Inf\"}} {}",
                times.count
            );
            let _ = writeln!(text, "heirloom_request_seconds_sum{{route=\"{route}\"}} {}", times.seconds);
            let _ = writeln!(text, "heirloom_request_seconds_count{{route=\"{route}\"}} {}", times.count);
        }
        for (name, kind, about, value) in [
            ("heirloom_connections", "gauge", "Open connections.", &self.connections),
            ("heirloom_refused_total", "counter", "Requests without a valid token.", &self.refused),
            (
                "heirloom_overloaded_total",
                "counter",
                "Requests that were asked to come back later.",
                &self.overloaded,
            ),
        ] {
            let _ = writeln!(
                text,
                "# HELP {name} {about}\n# TYPE {name} {kind}\n{name} {}",
                value.load(Ordering::Relaxed)
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_and_status() {
        let metrics = Metrics::default();
        metrics.count("GET", "/v1/memories", 200, Duration::from_millis(3));
        metrics.count("GET", "/v1/memories", 200, Duration::from_millis(30));
        let text = metrics.text();
        assert!(
            text.contains(
                "heirloom_requests_total{method=\"GET\",route=\"/v1/memories\",status=\"200\"} 2\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("heirloom_request_seconds_bucket{route=\"/v1/memories\",le=\"0.005\"} 1\n"),
            "{text}"
        );
        assert!(
            text.contains("heirloom_request_seconds_bucket{route=\"/v1/memories\",le=\"+Inf\"} 2\n"),
            "{text}"
        );
    }
}
