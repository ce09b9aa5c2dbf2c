//! TLS for connections, by rustls, with the system's certificates.
//!
//! Comes in: nothing. Goes out: a connector that the address's `sslmode` decides about. Never here: a way to skip the check of a certificate.

use heirloom_core::{Code, Fault, fault::Result};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A connector that trusts what the system trusts.
pub(crate) fn connector() -> Result<MakeRustlsConnect> {
    let mut roots = rustls::RootCertStore::empty();
    // A certificate of the system that cannot be read costs only itself.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| Fault::new(Code::Internal, format!("TLS cannot be set up: {e}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
