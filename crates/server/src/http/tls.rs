//! TLS: certificate and key from files, read again when they change.
//!
//! Comes in: two paths. Goes out: what accepts a connection. Files that cannot be used any more leave the certificate in force that was there before. Never here: a key in a
//! log or an error.

use heirloom_core::{Code, Fault, fault::Result};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio_rustls::TlsAcceptor;

/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Where certificate and key are.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate and those it rests on, in PEM.
    pub certificate: PathBuf,
    /// Its key, in PEM.
    pub key: PathBuf,
}

/// By what files are known to be unchanged.
type Stamps = [Option<(SystemTime, u64)>; 2];

struct Now {
    acceptor: TlsAcceptor,
    stamps: Stamps,
    looked: Instant,
}

/// A certificate that follows its files.
pub(crate) struct Tls {
    files: TlsFiles,
    now: Mutex<Now>,
}

impl Tls {
    pub(crate) fn open(files: TlsFiles) -> Result<Tls> {
        let now = Now { acceptor: acceptor(&files)?, stamps: stamps(&files), looked: Instant::now() };
        Ok(Tls { files, now: Mutex::new(now) })
    }

    /// What accepts a connection now.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.looked.elapsed() >= LOOK {
            now.looked = Instant::now();
            let stamps = stamps(&self.files);
            if stamps != now.stamps {
                match acceptor(&self.files) {
                    Ok(fresh) => (now.acceptor, now.stamps) = (fresh, stamps),
                    Err(_) => tracing::warn!("the new certificate cannot be used; the old one stays"),
                }
            }
        }
        now.acceptor.clone()
    }
}

fn stamps(files: &TlsFiles) -> Stamps {
    [&files.certificate, &files.key].map(|path| {
        let meta = std::fs::metadata(path).ok()?;
        Some((meta.modified().ok()?, meta.len()))
    })
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let unusable = |path: &Path, what: &str| {
        Fault::new(Code::Usage, format!("`{}` holds no {what} that can be used", path.display()))
            .hint("give files in PEM: --tls-cert FILE --tls-key FILE")
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|_| unusable(&files.certificate, "certificate"))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|_| unusable(&files.key, "key"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| Fault::new(Code::Internal, "TLS cannot be set up"))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|_| unusable(&files.certificate, "certificate for this key"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
