//! An answer of the HTTP door, before it becomes bytes.
//!
//! Comes in: a status, a body, headers. Goes out: a response of axum's. Answers are for nobody's cache and no browser's guess. Never here: what they
//! say.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use serde::Serialize;
use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Content,
}

/// What an answer holds.
pub(crate) enum Content {
    /// One JSON value.
    Json(Value),
    /// Bytes that come one after the other.
    Bytes(Body),
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Content { .. }")
    }
}

impl Reply {
    /// An answer with this body.
    pub(crate) fn new(status: StatusCode, body: Value) -> Reply {
        Reply { status, headers: HeaderMap::new(), body: Content::Json(body) }
    }

    /// What a verb answered.
    pub(crate) fn ok(answer: &impl Serialize) -> Reply {
        Reply::new(StatusCode::OK, serde_json::to_value(answer).unwrap_or_default())
    }

    /// Bytes of another sort.
    pub(crate) fn bytes(kind: &'static str, body: Body) -> Reply {
        Reply { status: StatusCode::OK, headers: HeaderMap::new(), body: Content::Bytes(body) }
            .header(header::CONTENT_TYPE, kind)
    }

    /// The same under another status.
    pub(crate) fn status(mut self, status: StatusCode) -> Reply {
        self.status = status;
        self
    }

    /// The same with a header; a value that no header can hold is left out.
    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Reply {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// The same with the version of what it shows.
    pub(crate) fn etag(self, version: &str) -> Reply {
        self.header(header::ETAG, &format!("\"{version}\""))
    }

    /// The bytes of the answer, for a connection that nobody serves. It ends with them.
    pub(crate) fn into_wire(self) -> Vec<u8> {
        let body = match &self.body {
            Content::Json(value) => value.to_string(),
            Content::Bytes(_) => String::new(),
        };
        let mut wire = format!(
            "HTTP/1.1 {} {}\r\nconnection: close\r\ncontent-length: {}\r\n",
            self.status.as_u16(),
            self.status.canonical_reason().unwrap_or_default(),
            body.len()
        );
        for (name, value) in &self.headers {
            wire.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
        }
        format!("{wire}\r\n{body}").into_bytes()
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = match self.body {
            Content::Json(Value::Null) if self.status == StatusCode::NO_CONTENT => {
                Response::new(Body::empty())
            }
            Content::Json(value) => {
                let mut response = Response::new(Body::from(value.to_string()));
                response
                    .headers_mut()
                    .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                response
            }
            Content::Bytes(body) => Response::new(body),
        };
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        response
    }
}
