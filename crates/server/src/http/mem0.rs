//! The paths of mem0's clients, in front of the same engine, the same guard and the same limits as all others.
//!
//! Comes in: requests below `/mem0`. Goes out: what `mem0/` made of them. Its clients send a token as `Token KEY` and read errors as plain JSON, which
//! the guard sees to. Never here: what a path does.

use super::door::{self, Http, named};
use super::problem::Problem;
use super::reply::Reply;
use crate::mem0::{self, Asked, BASE, Route};
use axum::Router;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{Method, StatusCode};
use axum::routing::{MethodFilter, any, on};
use heirloom_core::{Code, Fault};
use serde_json::Value;
use std::sync::Arc;

/// The router with mem0's paths, each with and without a slash at its end.
pub(super) fn mounted(mut router: Router<Arc<Http>>) -> Router<Arc<Http>> {
    for route in mem0::routes() {
        let method = Method::from_bytes(route.method.as_bytes()).unwrap_or_default();
        let filter = MethodFilter::try_from(method).unwrap_or(MethodFilter::GET);
        for end in ["", "/"] {
            let handler = move |State(http): State<Arc<Http>>, path: RawPathParams, request: Request| async move {
                named(route.path, answered(&http, route, path, request).await)
            };
            router = router.route(&format!("{}{end}", route.path), on(filter, handler));
        }
    }
    let nowhere = || async {
        let fault = Fault::new(Code::NotFound, "this part of mem0's API is not supported").hint(
            "memories, their history, search and entities are supported; docs/guides/mem0.md lists them",
        );
        named(BASE, Err(fault.into()))
    };
    router.route("/mem0", any(nowhere)).route("/mem0/{*rest}", any(nowhere))
}

async fn answered(
    http: &Arc<Http>,
    route: &'static Route,
    path: RawPathParams,
    request: Request,
) -> Result<Reply, Problem> {
    let mut visit = door::visit(&request);
    let mut asked = Asked {
        path: path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        query: door::pairs(&request)?,
        ..Asked::default()
    };
    // Nothing here is about a project; where several are served, none needs to be named.
    visit.project = (http.counter.projects().len() != 1).then(|| "none".to_owned());
    let bytes = door::body(http, route.method != "GET", request).await?;
    if !bytes.is_empty() {
        asked.body = match heirloom_core::json::parse(&bytes) {
            Ok(Value::Object(body)) => body,
            _ => {
                let fault = Fault::new(Code::Input, "the body is not a JSON object");
                return Err(fault.hint("send one JSON object").into());
            }
        };
    }
    http.ask(visit, move |call| match (route.run)(call, &asked) {
        Ok(answer) => Ok(Reply::ok(&answer)),
        // A client that is told 202 would take it for done.
        Err(fault) if fault.code == Code::NeedsConfirmation => {
            Err(Problem::with(fault, StatusCode::CONFLICT))
        }
        Err(fault) => Err(fault.into()),
    })
    .await
}
