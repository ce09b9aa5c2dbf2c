//! Connections under TLS: a real server behind a front that speaks TLS as PostgreSQL does, because the server of the test package was
//! built without it.
//!
//! Comes in: nothing. Goes out: nothing, if a trusted certificate carries a write and a read, and if every other case ends before a
//! single word of the conversation.

use crate::server::{Release, Server};
use crate::story::set_up;
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::story::{KEEPER_TOKEN, OWNER, Stage, moment, tiers};
use heirloom_engine::shelf::tiers::{Role, Turn, UserContext};
use heirloom_postgres::PgStore;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// What a client sends first if it wants TLS.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// An authority, and a certificate of it for `localhost`.
struct Papers {
    authority: String,
    server: rustls::ServerConfig,
}

fn papers() -> Papers {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    Papers { authority: authority.pem(), server }
}

/// Speaks TLS with whoever comes and hands the rest to the server's socket.
struct Front {
    _runtime: tokio::runtime::Runtime,
    port: u16,
    /// Conversations that got as far as the server.
    carried: Arc<AtomicUsize>,
}

impl Front {
    /// Without papers it says that it has no TLS, as such a server does.
    fn before(socket: PathBuf, papers: Option<rustls::ServerConfig>) -> Front {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let carried = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&carried);
        let acceptor = papers.map(|config| tokio_rustls::TlsAcceptor::from(Arc::new(config)));
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, socket, count) = (acceptor.clone(), socket.clone(), Arc::clone(&count));
                tokio::spawn(async move { carry(client, acceptor, &socket, &count).await });
            }
        });
        Front { _runtime: runtime, port, carried }
    }

    fn address(&self, host: &str, rest: &str) -> String {
        format!("postgres://heirloom_app@{host}:{}/{rest}", self.port)
    }
}

async fn carry(
    mut client: TcpStream,
    acceptor: Option<tokio_rustls::TlsAcceptor>,
    socket: &Path,
    count: &AtomicUsize,
) -> std::io::Result<()> {
    let mut first = [0; 8];
    client.read_exact(&mut first).await?;
    assert_eq!(first, SSL_REQUEST, "a word before TLS was asked for");
    let Some(acceptor) = acceptor else {
        client.write_all(b"N").await?;
        // Whatever comes now would be in the clear.
        if client.read(&mut first).await? > 0 {
            count.fetch_add(1, Ordering::Relaxed);
        }
        return Ok(());
    };
    client.write_all(b"S").await?;
    let mut secured = acceptor.accept(client).await?;
    count.fetch_add(1, Ordering::Relaxed);
    let mut server = UnixStream::connect(socket).await?;
    copy_bidirectional(&mut secured, &mut server).await.map(|_| ())
}

/// A process that writes and reads at that address, trusting what the file says; what it said.
fn asked(address: &str, trusted: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tls::asker", "--ignored", "--nocapture"])
        .env("HEIRLOOM_TEST_ADDRESS", address)
        .env("HEIRLOOM_TEST_FOLDER", folder.path())
        .env("SSL_CERT_FILE", trusted)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The other side: certificates are read from the environment, so it is a process of its own.
#[test]
#[ignore = "the other half of the tests of TLS, which start it"]
fn asker() {
    let at = |name: &str| std::env::var(name).unwrap();
    let store = PgStore::at(&at("HEIRLOOM_TEST_ADDRESS")).unwrap();
    let told = |fault: heirloom_core::Fault| println!("fault={}: {}", fault.code.name(), fault.message);
    if let Err(fault) = UserContext::by_token(&store, KEEPER_TOKEN, moment("2026-03-01T12:00:00Z")) {
        return told(fault);
    }
    let call = Stage::new(Arc::new(store), Path::new(&at("HEIRLOOM_TEST_FOLDER"))).of("ada");
    let turn = Turn::of(Role::User, "The harbour opens at six".to_owned());
    match tiers(&call).add_episode(turn, OWNER) {
        Ok(kept) => println!("read={}", tiers(&call).show(&kept.stored.id).unwrap().content),
        Err(fault) => told(fault),
    }
}

#[test]
fn tls_with_a_trusted_certificate_carries_everything_and_nothing_else_gets_through() {
    let server = Server::start(Release::Eighteen, &["fsync=off"]);
    set_up(&server, "tls");
    let papers = papers();
    let folder = tempfile::tempdir().unwrap();
    let (trusted, strange) = (folder.path().join("trusted.pem"), folder.path().join("strange.pem"));
    std::fs::write(&trusted, &papers.authority).unwrap();
    std::fs::write(&strange, self::papers().authority).unwrap();
    let front = Front::before(server.socket(), Some(papers.server));

    let said = asked(&front.address("localhost", "tls?sslmode=require"), &trusted);
    assert!(said.contains("read=The harbour opens at six"), "{said}");
    let carried = front.carried.load(Ordering::Relaxed);
    assert!(carried > 0, "the conversation went through the front");

    let config = format!("fault={}", Code::Config.name());
    let said = asked(&front.address("localhost", "tls?sslmode=require"), &strange);
    assert!(said.contains(&config), "an authority nobody trusts: {said}");
    let said = asked(&front.address("127.0.0.1", "tls?sslmode=require"), &trusted);
    assert!(said.contains(&config), "a certificate for another name: {said}");
    assert_eq!(front.carried.load(Ordering::Relaxed), carried, "nothing was said after a bad certificate");
}

#[test]
fn a_server_without_tls_gets_no_word_if_tls_was_asked_for() {
    let server = Server::start(Release::Eighteen, &["fsync=off"]);
    set_up(&server, "plain");
    let front = Front::before(server.socket(), None);
    let said = asked(&front.address("localhost", "plain?sslmode=require"), Path::new("/nonexistent"));
    assert!(said.contains(&format!("fault={}", Code::Config.name())) && said.contains("TLS"), "{said}");
    assert_eq!(front.carried.load(Ordering::Relaxed), 0);
}
