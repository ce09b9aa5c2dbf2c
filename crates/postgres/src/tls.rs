//! TLS for connections, by rustls.
//!
//! Comes in: which certificates are trusted, whether the server's name must fit, and a certificate of one's own. Goes out: a connector. Never here: a
//! way to skip the check of a certificate.

use heirloom_core::{Code, Fault, fault::Result};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Where systems keep the certificates they trust, if nothing says otherwise.
const SYSTEM: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// What is checked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checks {
    /// Trusted instead of the system's certificates.
    pub(crate) roots: Option<PathBuf>,
    /// Trusted beside them.
    pub(crate) more: Option<PathBuf>,
    /// Whether the certificate must name the server.
    pub(crate) name: bool,
    /// A certificate and key of one's own.
    pub(crate) client: Option<(PathBuf, PathBuf)>,
    /// Whether TLS may be used at all.
    pub(crate) used: bool,
}

fn unreadable(file: &Path, why: &dyn std::fmt::Display) -> Fault {
    Fault::new(Code::Config, format!("`{}` cannot be used for TLS: {why}", file.display()))
        .hint("name a PEM file that can be read")
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|e| unreadable(file, &e))
}

fn roots(checks: &Checks) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match &checks.roots {
        Some(file) => {
            if roots.add_parsable_certificates(certificates(file)?).0 == 0 {
                return Err(unreadable(file, &"it holds no certificate"));
            }
        }
        None => {
            // A certificate of the system that cannot be read costs only itself. SSL_CERT_FILE replaces the system's store in the library; here it adds.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if let Some(system) =
                checks.more.as_ref().and_then(|_| SYSTEM.iter().find(|path| Path::new(path).is_file()))
            {
                roots.add_parsable_certificates(certificates(Path::new(system)).unwrap_or_default());
            }
            if let Some(more) = checks.more.as_deref().filter(|more| more.is_file()) {
                roots.add_parsable_certificates(certificates(more)?);
            }
        }
    }
    Ok(roots)
}

/// A connector that checks what it is told to.
pub(crate) fn connector(checks: &Checks) -> Result<MakeRustlsConnect> {
    let roots = Arc::new(if checks.used { roots(checks)? } else { RootCertStore::empty() });
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let unset = |e: &dyn std::fmt::Display| Fault::new(Code::Internal, format!("TLS cannot be set up: {e}"));
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| unset(&e))?;
    let builder = if checks.name || roots.is_empty() {
        builder.with_root_certificates(roots)
    } else {
        let inner =
            WebPkiServerVerifier::builder_with_provider(roots, provider).build().map_err(|e| unset(&e))?;
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyName(inner)))
    };
    let config = match &checks.client {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate)?;
            let private = PrivateKeyDer::from_pem_file(key).map_err(|e| unreadable(key, &e))?;
            builder.with_client_auth_cert(chain, private).map_err(|e| unreadable(certificate, &e))?
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

/// `verify-ca`: everything is checked but the name.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        match self.0.verify_server_cert(end, between, name, stapled, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
