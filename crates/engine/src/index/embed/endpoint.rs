//! Any endpoint that speaks OpenAI's embedding calls.
//!
//! In: texts and a function that posts JSON. Out: unit vectors. This file knows the two bodies and how to
//! judge an answer; the connection, its address and its key belong to whoever makes the function. Never here: a text
//! that somebody has not made fit to leave the machine.

use heirloom_core::hash;
use serde::{Deserialize, Serialize};

use std::sync::{Mutex, PoisonError};

use super::{Detail, EmbedError, Embedder, Embedding, Space, to_unit};

/// Texts per call: what the common servers take.
const PER_CALL: usize = 64;

/// Characters of a text that are sent: the common models read no further.
const LONGEST: usize = 8_000;

/// Body of a call.
#[derive(Debug, Serialize)]
pub struct Request<'a> {
    /// Name of the model at the endpoint.
    pub model: &'a str,
    /// Texts.
    pub input: &'a [&'a str],
    /// Always `float`.
    pub encoding_format: &'static str,
    /// Wanted length of the vectors, for models that can be cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<usize>,
}

/// Body of an answer; what else is in it is ignored.
#[derive(Debug, Deserialize)]
pub struct Response {
    /// One entry per text, in any order.
    pub data: Vec<Entry>,
}

/// One vector of an answer.
#[derive(Debug, Deserialize)]
pub struct Entry {
    /// Which text it belongs to.
    pub index: usize,
    /// The vector.
    pub embedding: Vec<f32>,
}

/// What the connection brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Body.
    pub body: Vec<u8>,
}

/// Posts a JSON body to the endpoint. An `Err` says why there was no reply at all.
pub type Post = dyn Fn(&[u8]) -> Result<Reply, String> + Send + Sync;

/// Makes a text fit to leave the machine: what the gate would cut is cut.
pub type Clean = dyn Fn(&str) -> String + Send + Sync;

/// An endpoint as an embedder.
pub struct Endpoint {
    space: Space,
    model: String,
    cut: bool,
    clean: Box<Clean>,
    post: Box<Post>,
    /// The last question: the project's index and the tiers ask it one after the other.
    last: Mutex<Option<(String, Embedding)>>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("space", &self.space).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The endpoint at `address`, whose `model` gives vectors of `dims` numbers; `cut` asks it to cut them to that.
    pub fn new(
        address: &str,
        model: &str,
        dims: usize,
        cut: bool,
        clean: Box<Clean>,
        post: Box<Post>,
    ) -> Self {
        // Two servers may call different models by one name: their vectors are never mixed.
        let place = &hash::sha256(address.as_bytes())[..12];
        let space = Space { model: format!("endpoint:{place}:{model}:{dims}"), dims };
        Self { space, model: model.to_owned(), cut, clean, post, last: Mutex::new(None) }
    }

    fn call(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let fail = |reason: String, retryable| EmbedError::Endpoint { reason, retryable };
        let dimensions = self.cut.then_some(self.space.dims);
        let request = Request { model: &self.model, input: texts, encoding_format: "float", dimensions };
        let body = serde_json::to_vec(&request).map_err(|e| fail(e.to_string(), false))?;
        let reply = (self.post)(&body).map_err(|e| fail(e, true))?;
        if !(200..300).contains(&reply.status) {
            let retryable = reply.status == 429 || reply.status >= 500;
            return Err(fail(format!("status {}", reply.status), retryable));
        }
        let answer: Response = serde_json::from_slice(&reply.body)
            .map_err(|_| fail("an answer that is not understood".into(), false))?;
        let mut out: Vec<Option<Embedding>> = vec![None; texts.len()];
        for mut entry in answer.data {
            if entry.embedding.len() != self.space.dims || entry.embedding.iter().any(|x| !x.is_finite()) {
                return Err(fail(
                    format!("a vector of {} numbers instead of {}", entry.embedding.len(), self.space.dims),
                    false,
                ));
            }
            to_unit(&mut entry.embedding);
            let place = out.get_mut(entry.index).ok_or_else(|| fail("a vector for no text".into(), false))?;
            *place = Some(Embedding { vector: entry.embedding, pieces: None });
        }
        let all: Option<Vec<Embedding>> = out.into_iter().collect();
        all.ok_or_else(|| fail("fewer vectors than texts".into(), false))
    }
}

impl Embedder for Endpoint {
    fn space(&self) -> &Space {
        &self.space
    }

    fn embed(&self, texts: &[&str], _detail: Detail) -> Result<Vec<Embedding>, EmbedError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some((text, known)), [one]) = (last.as_ref(), texts)
            && text == one
        {
            return Ok(vec![known.clone()]);
        }
        // What says nothing is not sent, and has a direction all the same: a vector of zeros would count as missing.
        let mut silent = vec![0.0; self.space.dims];
        silent.iter_mut().take(1).for_each(|x| *x = 1.0);
        let mut out = vec![Embedding { vector: silent, pieces: None }; texts.len()];
        let said: Vec<(usize, String)> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| (at, (self.clean)(text).chars().take(LONGEST).collect::<String>()))
            .filter(|(_, text)| !text.trim().is_empty())
            .collect();
        for part in said.chunks(PER_CALL) {
            let texts: Vec<&str> = part.iter().map(|(_, text)| text.as_str()).collect();
            for ((at, _), embedding) in part.iter().zip(self.call(&texts)?) {
                out[*at] = embedding;
            }
        }
        if let ([one], [embedding]) = (texts, out.as_slice()) {
            *last = Some(((*one).to_owned(), embedding.clone()));
        }
        Ok(out)
    }

    fn is_remote(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(status: u16, body: &'static str) -> Endpoint {
        let post = Box::new(move |_: &[u8]| Ok(Reply { status, body: body.into() }));
        Endpoint::new("http://localhost", "m", 2, false, Box::new(str::to_owned), post)
    }

    #[test]
    fn vectors_are_put_in_order_and_made_unit() {
        let e = endpoint(
            200,
            r#"{"object":"list","data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"usage":{}}"#,
        );
        let got = e.embed(&["a", "b"], Detail::Pooled).unwrap();
        assert_eq!(got[0].vector, [0.6, 0.8]);
        assert_eq!(got[1].vector, [0.0, 1.0]);
    }

    #[test]
    fn the_request_names_the_model_and_the_texts() {
        let e = Endpoint::new(
            "http://localhost",
            "m",
            1,
            true,
            Box::new(|text: &str| text.replace("secret", "")),
            Box::new(|body: &[u8]| {
                let v: serde_json::Value = serde_json::from_slice(body).unwrap();
                assert_eq!(
                    v,
                    serde_json::json!({"model": "m", "input": ["a"], "encoding_format": "float", "dimensions": 1})
                );
                Ok(Reply { status: 200, body: br#"{"data":[{"index":0,"embedding":[5]}]}"#.to_vec() })
            }),
        );
        assert_eq!(e.embed(&["secreta", " ", "secret"], Detail::Pooled).unwrap().len(), 3);
    }

    #[test]
    fn two_addresses_are_two_spaces() {
        let at = |address: &str| {
            let post = Box::new(|_: &[u8]| Err(String::new()));
            Endpoint::new(address, "m", 2, false, Box::new(str::to_owned), post).space().clone()
        };
        assert_ne!(at("http://localhost:1"), at("http://localhost:2"));
        assert_eq!(at("http://localhost:1"), at("http://localhost:1"));
    }

    #[test]
    fn an_overloaded_endpoint_may_be_asked_again_and_a_refusing_one_not() {
        for (status, again) in [(429, true), (503, true), (401, false)] {
            match endpoint(status, "").embed(&["a"], Detail::Pooled) {
                Err(EmbedError::Endpoint { retryable, .. }) => assert_eq!(retryable, again),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn wrong_counts_sizes_and_places_are_errors() {
        for body in [
            r#"{"data":[]}"#,
            r#"{"data":[{"index":0,"embedding":[1,2,3]}]}"#,
            r#"{"data":[{"index":7,"embedding":[1,2]}]}"#,
            "no json",
        ] {
            assert!(endpoint(200, body).embed(&["a"], Detail::Pooled).is_err(), "{body}");
        }
    }
}
