//! TLS: certificate and key from files, read again when they change.
//!
//! Comes in: two paths. Goes out: what accepts a connection. Files that cannot be used any more leave the certificate in force that was there before.
//! Never here: a key in a log or an error.

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
        Fault::new(Code::Usage, format!("`{}` contains no usable {what}", path.display()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, RootCertStore};
    use tokio_rustls::TlsConnector;

    /// Writes a certificate of its own and its key; the certificate.
    fn written(folder: &Path) -> (TlsFiles, CertificateDer<'static>) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let files = TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
        std::fs::write(&files.certificate, made.cert.pem()).unwrap();
        std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
        (files, made.cert.der().clone())
    }

    /// Whether a client that trusts only this certificate gets through.
    async fn shakes(tls: &Tls, trusted: &CertificateDer<'static>) -> bool {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let (here, there) = tokio::io::duplex(64 << 10);
        let client = TlsConnector::from(Arc::new(config));
        let (name, acceptor) = (ServerName::try_from("localhost").unwrap(), tls.acceptor());
        let (client, server) = tokio::join!(client.connect(name, here), acceptor.accept(there));
        client.is_ok() && server.is_ok()
    }

    #[tokio::test]
    async fn a_changed_certificate_counts_and_a_broken_one_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (files, first) = written(folder.path());
        let tls = Tls::open(files).unwrap();
        assert!(shakes(&tls, &first).await);
        std::fs::write(folder.path().join("cert.pem"), "no certificate").unwrap();
        tokio::time::sleep(LOOK + Duration::from_millis(100)).await;
        assert!(shakes(&tls, &first).await, "the old one stays in force");
        let (_, second) = written(folder.path());
        tokio::time::sleep(LOOK + Duration::from_millis(100)).await;
        assert!(shakes(&tls, &second).await && !shakes(&tls, &first).await);
    }

    #[test]
    fn files_that_hold_no_certificate_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let files =
            TlsFiles { certificate: folder.path().join("none.pem"), key: folder.path().join("none.key") };
        let fault = Tls::open(files).map(drop).unwrap_err();
        assert!(fault.message.contains("none.pem"), "{fault}");
    }
}
