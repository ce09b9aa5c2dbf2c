//! What went wrong, as HTTP says it: `application/problem+json` with the code and the next step that every door gives.
//!
//! Comes in: a fault, perhaps with a status that HTTP has a word of its own for. Goes out: an answer. Never here: a text of a memory.

use super::reply::Reply;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use heirloom_core::{Code, Fault};
use serde_json::json;

/// A fault and how HTTP calls it.
#[derive(Debug)]
pub(crate) struct Problem {
    fault: Fault,
    status: StatusCode,
    retry: Option<u64>,
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Problem {
        let status = StatusCode::from_u16(fault.code.row().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry = matches!(status.as_u16(), 429 | 503).then_some(1);
        Problem { fault, status, retry }
    }
}

impl Problem {
    /// The same under a status that says more.
    pub(crate) fn with(fault: Fault, status: StatusCode) -> Problem {
        Problem { status, ..Problem::from(fault) }
    }

    /// Whoever asks too much, or asks while everybody else does.
    pub(crate) fn later(code: Code, message: &str, seconds: u64) -> Problem {
        Problem { retry: Some(seconds), ..Problem::from(Fault::new(code, message)) }
    }

    /// A path that leads nowhere.
    pub(crate) fn nowhere() -> Problem {
        Fault::new(Code::NotFound, "this path does not exist")
            .hint("GET /openapi.json lists all paths")
            .into()
    }

    /// The code.
    pub(crate) fn code(&self) -> Code {
        self.fault.code
    }

    /// The same in a line of a stream.
    pub(crate) fn told(&self) -> serde_json::Value {
        crate::told::fault(&self.fault)
    }

    /// The answer.
    pub(crate) fn reply(&self) -> Reply {
        let facts: Vec<_> =
            self.fault.facts.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        let body = json!({
            "type": format!("urn:heirloom:{}", self.fault.code.name()),
            "title": self.fault.code.row().meaning,
            "status": self.status.as_u16(),
            "detail": self.fault.message,
            "code": self.fault.code.name(),
            "next": self.fault.next_step(),
            "facts": facts,
        });
        let mut reply =
            Reply::new(self.status, body).header(header::CONTENT_TYPE, "application/problem+json");
        if let Some(seconds) = self.retry {
            reply = reply.header(header::RETRY_AFTER, &seconds.to_string());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            reply.headers.insert(
                HeaderName::from_static("www-authenticate"),
                HeaderValue::from_static("Bearer realm=\"heirloom\""),
            );
        }
        reply
    }
}
