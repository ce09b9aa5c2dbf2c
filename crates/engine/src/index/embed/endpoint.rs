//! Any endpoint that speaks OpenAI's embedding calls.
//!
//! In: texts and a function that posts JSON. Out: unit vectors. This file knows the two bodies and how to
//! judge an answer; the connection, its address and its key belong to whoever makes the function.

use serde::{Deserialize, Serialize};

use super::{Detail, EmbedError, Embedder, Embedding, Space, to_unit};

/// Texts per call: what the common servers take.
const PER_CALL: usize = 64;

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

/// An endpoint as an embedder.
pub struct Endpoint {
    space: Space,
    model: String,
    cut: bool,
    post: Box<Post>,
}

impl Endpoint {
    /// An endpoint whose `model` gives vectors of `dims` numbers; `cut` asks the endpoint to cut them to that.
    pub fn new(model: &str, dims: usize, cut: bool, post: Box<Post>) -> Self {
        let space = Space { model: format!("endpoint:{model}"), dims };
        Self { space, model: model.to_owned(), cut, post }
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
        let mut out = Vec::with_capacity(texts.len());
        for part in texts.chunks(PER_CALL) {
            out.extend(self.call(part)?);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(status: u16, body: &'static str) -> Endpoint {
        Endpoint::new("m", 2, false, Box::new(move |_| Ok(Reply { status, body: body.into() })))
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
            "m",
            1,
            true,
            Box::new(|body| {
                let v: serde_json::Value = serde_json::from_slice(body).unwrap();
                assert_eq!(
                    v,
                    serde_json::json!({"model": "m", "input": ["a"], "encoding_format": "float", "dimensions": 1})
                );
                Ok(Reply { status: 200, body: br#"{"data":[{"index":0,"embedding":[5]}]}"#.to_vec() })
            }),
        );
        assert_eq!(e.embed(&["a"], Detail::Pooled).unwrap()[0].vector, [1.0]);
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
