//! Proof of whose server this is.
//!
//! Comes in: a number that a client made up. Goes out: the same, keyed with a secret that lies in the data folder of whoever runs the server, where
//! no other account reads it. A client of the same account checks it before it sends a token: on a shared machine anybody may listen on a port. Never
//! here: the secret.

use super::door::{Http, named, pairs};
use super::problem::Problem;
use super::reply::Reply;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, header};
use heirloom_core::{Code, Fault, hash};
use serde_json::json;
use std::sync::Arc;

/// What is proven, for a nonce and the address it was asked at.
pub fn proof(key: &[u8], nonce: &str, host: &str) -> String {
    hash::keyed(key, format!("heirloom server\0{host}\0{nonce}").as_bytes())
}

/// Answers a challenge.
pub(crate) async fn answer(State(http): State<Arc<Http>>, request: Request) -> Response<Body> {
    named("/v1/proof", answered(&http, &request))
}

fn answered(http: &Http, request: &Request) -> Result<Reply, Problem> {
    let key = http.key.as_ref().ok_or_else(Problem::nowhere)?;
    let nonce = pairs(request)?.into_iter().find(|(name, _)| name == "nonce").map(|(_, nonce)| nonce);
    let fits = |nonce: &String| {
        (16..=128).contains(&nonce.len()) && nonce.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let nonce = nonce.filter(fits).ok_or_else(|| {
        Fault::new(Code::Usage, "the nonce is not valid").hint("send nonce= and 16 to 128 random hex digits")
    })?;
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    Ok(Reply::ok(&json!({ "proof": proof(key, &nonce, &host) })))
}
