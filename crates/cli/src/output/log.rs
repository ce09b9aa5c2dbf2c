//! What the engine does, step by step, on standard error: for whoever sets `HEIRLOOM_LOG`.
//!
//! Comes in: the engine's spans and events, which name acts, tables and numbers. Goes out: a line each, with the time since the start; of a server a
//! JSON object each, with the time of day, for programs that collect logs. Without the
//! variable nothing is installed and every event costs one look at a number; a hook never installs it. Never here: what other crates log, which
//! may be anything, and never content, which the engine puts into no event.

use super::Out;
use heirloom_core::time;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Only what our own crates say.
const OURS: &str = "heirloom";

/// Listens from now on, to what weighs at least as much as `level` says: `error`, `warn`, `info`, `debug` or `trace`. With `json` for programs.
pub(crate) fn install(level: &str, json: bool) {
    match level.parse::<Level>() {
        Ok(level) => {
            let log =
                Log { level, json, began: Instant::now(), last: AtomicU64::new(0), open: Mutex::default() };
            // Only a second one could fail, and there is none.
            let _ = tracing::subscriber::set_global_default(log);
        }
        Err(_) => {
            Out::new(false).say("HEIRLOOM_LOG must be error, warn, info, debug or trace; nothing is logged")
        }
    }
}

struct Log {
    level: Level,
    json: bool,
    began: Instant,
    last: AtomicU64,
    /// Spans that are not over: their number, what they are, when they began, how often they are held.
    open: Mutex<Vec<(u64, String, Instant, usize)>>,
}

impl Log {
    /// One event as an object: when, how much it weighs, where, what, and its fields.
    fn object(level: Level, target: &str, fields: Fields) {
        let mut line = Map::new();
        line.insert("at".to_owned(), time::format(crate::world::now()).into());
        line.insert("level".to_owned(), level.as_str().to_lowercase().into());
        line.insert("target".to_owned(), target.into());
        line.insert("message".to_owned(), fields.message.trim().into());
        line.extend(fields.named);
        Out::new(false).say(Value::Object(line).to_string());
    }

    fn line(&self, level: Level, target: &str, text: &str) {
        if self.json {
            let message = text.to_owned();
            return Log::object(level, target, Fields { message, ..Fields::default() });
        }
        let at = self.began.elapsed().as_secs_f64() * 1_000.0;
        let target = target.strip_prefix("heirloom_").unwrap_or(target);
        Out::new(false).say(format!("{at:9.3} ms {:5} {target}:{text}", level.as_str().to_lowercase()));
    }

    fn spans(&self) -> std::sync::MutexGuard<'_, Vec<(u64, String, Instant, usize)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fields as ` name=value`, the message first and bare; and by name.
#[derive(Default)]
struct Fields {
    message: String,
    rest: String,
    named: Map<String, Value>,
}

impl Fields {
    fn name(&mut self, field: &Field, value: impl Into<Value>) {
        if field.name() != "message" {
            self.named.insert(field.name().to_owned(), value.into());
        }
    }
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        let _ = write!(self.rest, " {}={value}", field.name());
        self.name(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        let _ = write!(self.rest, " {}={value}", field.name());
        self.name(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, " {value:?}"),
            name => write!(self.rest, " {name}={value:?}"),
        };
        self.name(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = match field.name() {
            "message" => write!(self.message, " {value}"),
            name => write!(self.rest, " {name}={value}"),
        };
        self.name(field, value);
    }
}

impl Subscriber for Log {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        about.target().starts_with(OURS) && *about.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<tracing::level_filters::LevelFilter> {
        Some(self.level.into())
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Fields::default();
        span.record(&mut fields);
        let text = format!(" {}{}", span.metadata().name(), fields.rest);
        self.line(*span.metadata().level(), span.metadata().target(), &format!("{text} begins"));
        self.spans().push((number, text, Instant::now(), 1));
        Id::from_u64(number)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let about = event.metadata();
        if self.json {
            return Log::object(*about.level(), about.target(), fields);
        }
        self.line(*about.level(), about.target(), &format!("{}{}", fields.message, fields.rest));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(span) = self.spans().iter_mut().find(|span| span.0 == id.into_u64()) {
            span.3 += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut spans = self.spans();
        let Some(at) = spans.iter().position(|span| span.0 == id.into_u64()) else { return false };
        spans[at].3 -= 1;
        if spans[at].3 > 0 {
            return false;
        }
        let (_, text, began, _) = spans.swap_remove(at);
        drop(spans);
        let took = began.elapsed().as_secs_f64() * 1_000.0;
        self.line(Level::DEBUG, OURS, &format!("{text} took {took:.3} ms"));
        true
    }
}
