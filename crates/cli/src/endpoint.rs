//! Endpoints: calls to an OpenAI-compatible server that the user named in their own settings.
//!
//! Comes in: settings, and where a key is kept. Goes out: functions that post JSON, and an embedder made of one. Nothing is read, opened or connected
//! before the first call. A server that fails is left alone for a while, longer each time, and what happened is noted in the data folder
//! for `doctor`. Never here: an address from a project's file, a redirect that is followed, a key or a text in a note or an error.

use crate::{environment, world};
use heirloom_core::settings::{Embedding, Endpoint as Named, Gate};
use heirloom_engine::endpoints;
use heirloom_engine::files;
use heirloom_engine::gate::Screen;
use heirloom_engine::index::embed::Embedder;
use heirloom_engine::index::embed::chosen::Given;
use heirloom_engine::index::embed::endpoint::{Endpoint, Reply};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The longest key that is read.
const KEY_MAX: u64 = 16 << 10;

/// Who waits for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// An agent at a prompt: briefly, and not at all while the server is left alone.
    Prompt,
    /// Nobody: as long as the settings say, but not while the server is left alone.
    Nobody,
    /// A person who asked for it: at once, whatever happened before.
    Person,
}

/// A server and what it takes to call it.
pub(crate) struct Server {
    named: Named,
    call: &'static str,
    timeout: Duration,
    patience: Patience,
    data: PathBuf,
    #[cfg(feature = "endpoint")]
    agent: OnceLock<Result<ureq::Agent, String>>,
}

impl Server {
    /// `call` is what is called below the address: `embeddings`, `chat/completions`.
    pub(crate) fn new(
        named: &Named,
        call: &'static str,
        timeout_ms: u32,
        patience: Patience,
        data: &Path,
    ) -> Server {
        Server {
            named: named.clone(),
            call,
            timeout: Duration::from_millis(u64::from(timeout_ms)),
            patience,
            data: data.to_owned(),
            #[cfg(feature = "endpoint")]
            agent: OnceLock::new(),
        }
    }

    /// Posts a JSON body. An `Err` says why there was no reply at all.
    pub(crate) fn post(&self, body: &[u8]) -> Result<Reply, String> {
        let (data, url) = (&self.data, &self.named.url);
        let known = endpoints::trouble(data, url);
        if self.patience != Patience::Person && known.as_ref().is_some_and(|known| known.rests(world::now()))
        {
            return Err("it failed before; Heirloom tries it again later".to_owned());
        }
        let reply = self.send(body);
        match &reply {
            Ok(reply) if (200..300).contains(&reply.status) => {
                if known.is_some() {
                    endpoints::answered(data, url);
                }
            }
            Ok(reply) => endpoints::failed(data, url, &format!("status {}", reply.status), world::now()),
            Err(why) => endpoints::failed(data, url, why, world::now()),
        }
        reply
    }

    fn key(&self) -> Result<Option<String>, String> {
        if let Some(name) = &self.named.key_env {
            let key = environment::text(name).ok_or_else(|| format!("the variable {name} holds no key"))?;
            return Ok(Some(key.trim().to_owned()));
        }
        let Some(file) = &self.named.key_file else { return Ok(None) };
        let path = match (file.strip_prefix("~/"), environment::home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(file),
        };
        match files::read_text(&path, KEY_MAX) {
            Ok(Some(text)) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
            _ => Err("the file of the key cannot be read or is empty".to_owned()),
        }
    }

    #[cfg(not(feature = "endpoint"))]
    fn send(&self, _body: &[u8]) -> Result<Reply, String> {
        let _ = (self.call, self.timeout, self.key()?);
        Err("this build of Heirloom calls no endpoints; use one with the feature `endpoint`".to_owned())
    }

    #[cfg(feature = "endpoint")]
    fn send(&self, body: &[u8]) -> Result<Reply, String> {
        /// The longest answer: 64 vectors of 4,096 numbers, generously written.
        const LONGEST: u64 = 32 << 20;
        let agent =
            self.agent.get_or_init(|| agent(&self.named.url, self.timeout)).as_ref().map_err(Clone::clone)?;
        let address = format!("{}/{}", self.named.url.trim_end_matches('/'), self.call);
        let mut request = agent.post(&address).header("Content-Type", "application/json");
        if let Some(key) = self.key()? {
            request = request.header("Authorization", &format!("Bearer {key}"));
        }
        // What the client says may hold parts of the address, never the body or a header.
        let mut response = request.send(body).map_err(|e| e.to_string())?;
        let status = response.status().as_u16();
        let body =
            response.body_mut().with_config().limit(LONGEST).read_to_vec().map_err(|e| e.to_string())?;
        Ok(Reply { status, body })
    }
}

/// A client that trusts what the system trusts, follows nothing and gives up in time.
#[cfg(feature = "endpoint")]
fn agent(url: &str, timeout: Duration) -> Result<ureq::Agent, String> {
    use ureq::tls::{Certificate, RootCerts, TlsConfig};
    let mut config = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent("heirloom");
    if url.starts_with("https://") {
        // A certificate of the system that cannot be read costs only itself.
        let found = rustls_native_certs::load_native_certs();
        let certificates: Vec<Certificate<'static>> =
            found.certs.iter().map(|one| Certificate::from_der(one.as_ref()).to_owned()).collect();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        config = config.tls_config(
            TlsConfig::builder()
                .root_certs(RootCerts::new_with_certs(&certificates))
                .unversioned_rustls_crypto_provider(provider)
                .build(),
        );
    } else {
        // Plain http goes to this machine only, and not through anybody else.
        config = config.proxy(None);
    }
    Ok(config.build().new_agent())
}

/// Cuts out of a text what must not leave the machine. The rules are made ready at the first text.
pub(crate) fn cleaner(gate: &Gate) -> Box<dyn Fn(&str) -> String + Send + Sync> {
    let gate = gate.clone();
    let screen = OnceLock::new();
    Box::new(move |text: &str| screen.get_or_init(|| Screen::new(gate.clone())).redacted(text))
}

/// The embedder the user named.
pub(crate) fn embedder(named: &Embedding, gate: &Gate, patience: Patience, data: &Path) -> Given {
    let timeout = match patience {
        Patience::Prompt => named.prompt_timeout_ms,
        Patience::Nobody | Patience::Person => named.endpoint.timeout_ms,
    };
    let server = Server::new(&named.endpoint, "embeddings", timeout, patience, data);
    let post = Box::new(move |body: &[u8]| server.post(body));
    let Named { url, model, .. } = &named.endpoint;
    let endpoint = Endpoint::new(url, model, named.dimensions, named.cut, cleaner(gate), post);
    Given::from(Arc::new(endpoint) as Arc<dyn Embedder>)
}
