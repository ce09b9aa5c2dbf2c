//! Behind pgbouncer in transaction mode, in the clear and with TLS: every call may come to another connection, and prepared statements are not kept.
//!
//! Comes in: the Debian package `pgbouncer`. Goes out: nothing, if many users at once see only their own, and the story is told as without it.

use crate::server::{Release, Server};
use crate::story::{CARELESS, set_up};
use heirloom_core::Code;
use heirloom_engine::shelf::tiers::story::{KEEPER_TOKEN, OWNER, Stage, moment, tell, tiers};
use heirloom_engine::shelf::tiers::{Role, TierStore, Turn, UserContext};
use heirloom_postgres::{Address, Outside, PgStore};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use std::cell::Cell;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const NOBODY: u32 = 65_534;

/// A pooler in front of a server; it ends with this value.
pub(crate) struct Pooler {
    process: Child,
    port: u16,
    folder: PathBuf,
    more: String,
}

impl Pooler {
    /// Two connections for everybody, so that transactions of several users share them.
    pub(crate) fn before(server: &Server, more: &str) -> Pooler {
        let folder = server.folder().to_owned();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Pooler::start(&folder, port, more);
        Pooler { process, port, folder, more: more.to_owned() }
    }

    fn start(folder: &Path, port: u16, more: &str) -> Child {
        let file = folder.join(format!("pgbouncer-{port}.ini"));
        let users = folder.join("users.txt");
        std::fs::write(&users, "\"heirloom_app\" \"\"\n\"keeper\" \"\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host={0} port=5432\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\nauth_file = {1}\npool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 200\n\
             logfile = {0}/pgbouncer.log\npidfile = {0}/pgbouncer-{port}.pid\n{more}\n",
            folder.display(),
            users.display()
        )
        .replace("* = host", "* = user=heirloom_app host");
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new("pgbouncer");
        command.arg("-q").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if rustix::process::geteuid().is_root() {
            chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
            chown(&users, Some(NOBODY), Some(NOBODY)).unwrap();
            command.uid(NOBODY).gid(NOBODY);
        }
        let child = command.spawn().expect("the Debian package `pgbouncer`; `cargo xtask test` installs it");
        let began = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < Duration::from_secs(10), "pgbouncer does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        child
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) fn again(&mut self) {
        self.process = Pooler::start(&self.folder, self.port, &self.more);
    }

    pub(crate) fn address(&self, host: &str, database: &str, words: &str) -> String {
        format!("postgres://heirloom_app@{host}:{}/{database}?{words}", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Papers in files: an authority, certificates for `localhost`, one that is over, one for a client.
struct Papers {
    folder: PathBuf,
}

impl Papers {
    fn make(server: &Server, name: &str) -> Papers {
        let folder = server.folder().join(name);
        std::fs::create_dir(&folder).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        std::fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
        let write = |name: &str, params: CertificateParams| {
            let key = KeyPair::generate().unwrap();
            let certificate = params.signed_by(&key, &authority).unwrap();
            std::fs::write(folder.join(format!("{name}.pem")), certificate.pem()).unwrap();
            std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
        };
        let host = || CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        write("server", host());
        let mut over = host();
        over.not_before = rcgen::date_time_ymd(2020, 1, 1);
        over.not_after = rcgen::date_time_ymd(2021, 1, 1);
        write("over", over);
        let mut client = CertificateParams::new(Vec::new()).unwrap();
        client.distinguished_name.push(rcgen::DnType::CommonName, "heirloom_app");
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        write("client", client);
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            if rustix::process::geteuid().is_root() {
                chown(entry.path(), Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        Papers { folder }
    }

    fn at(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// What pgbouncer is told.
    fn told(&self, certificate: &str, more: &str) -> String {
        format!(
            "client_tls_sslmode = require\nclient_tls_key_file = {}\nclient_tls_cert_file = {}\n{more}",
            self.at(&format!("{certificate}.key")),
            self.at(&format!("{certificate}.pem"))
        )
    }
}

#[test]
fn through_a_pooler_with_tls_the_whole_story_is_told() {
    let server = Server::start(Release::Eighteen, CARELESS);
    let papers = Papers::make(&server, "papers");
    let pooler = Pooler::before(&server, &papers.told("server", ""));
    let words = format!("sslmode=verify-full&sslrootcert={}", papers.at("ca.pem"));
    let folder = tempfile::tempdir().unwrap();
    let count = Cell::new(0);
    let make = || -> Arc<dyn TierStore> {
        count.set(count.get() + 1);
        let name = format!("pooled{}", count.get());
        set_up(&server, &name);
        Arc::new(PgStore::at(&pooler.address("localhost", &name, &words)).unwrap())
    };
    tell(&make, &make, folder.path());
}

#[test]
fn many_users_share_two_connections_of_a_pooler_and_see_only_their_own() {
    let server = Server::start(Release::Sixteen, CARELESS);
    set_up(&server, "shared");
    let mut pooler = Pooler::before(&server, "");
    let address = pooler.address("127.0.0.1", "shared", "sslmode=disable");
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (address, folder) = (&address, folder.path());
            scope.spawn(move || {
                let stage = Stage::new(Arc::new(PgStore::at(address).unwrap()), folder);
                let user = format!("user-{n}");
                let call = stage.of(&user);
                for i in 0..25 {
                    tiers(&call)
                        .add_episode(Turn::of(Role::User, format!("shared words {i}")), OWNER)
                        .unwrap();
                    let found = tiers(&call).search("shared words", None, 5).unwrap();
                    assert!(!found.is_empty() && found.iter().all(|hit| hit.memory.user == user));
                }
                assert_eq!(tiers(&call).verify_audit().unwrap(), 50);
            });
        }
    });
    // A pooler that was killed and came back: what was acknowledged is there, and the writer goes on.
    let stage = Stage::new(Arc::new(PgStore::at(&address).unwrap()), folder.path());
    let call = stage.of("user-0");
    let mut kept = 25;
    for round in 0..3 {
        pooler.kill();
        assert_eq!(
            tiers(&call).add_episode(Turn::of(Role::User, "lost"), OWNER).unwrap_err().code,
            Code::Unavailable,
            "round {round}"
        );
        pooler.again();
        std::thread::sleep(Duration::from_millis(3_100));
        tiers(&call).add_episode(Turn::of(Role::User, "again"), OWNER).unwrap();
        kept += 1;
    }
    assert_eq!(stage.store.counts(tiers(&call).who()).unwrap().episodes, kept);
    tiers(&call).verify_audit().unwrap();
}

#[test]
fn tls_is_checked_in_the_words_of_libpq() {
    let server = Server::start(Release::Sixteen, CARELESS);
    set_up(&server, "tls");
    let (papers, strange) = (Papers::make(&server, "papers"), Papers::make(&server, "strange"));
    let good = Pooler::before(&server, &papers.told("server", ""));
    let over = Pooler::before(&server, &papers.told("over", ""));
    let asks = format!("client_tls_ca_file = {}", papers.at("ca.pem"));
    let wants = Pooler::before(&server, &papers.told("server", &asks).replace("require", "verify-full"));
    let (ca, other) = (papers.at("ca.pem"), strange.at("ca.pem"));
    let mine = format!("sslcert={}&sslkey={}", papers.at("client.pem"), papers.at("client.key"));
    let asked = |pooler: &Pooler, host: &str, words: &str, outside: &Outside| {
        let address = Address::parse(&pooler.address(host, "tls", words), outside).unwrap();
        let store = PgStore::to(address).unwrap();
        let signed_in = UserContext::by_token(&store, KEEPER_TOKEN, moment("2026-03-01T12:00:00Z"));
        signed_in.map(|who| who.user().to_owned()).map_err(|fault| fault.code)
    };
    let plain = Outside::default();
    let trusts = |file: &str| Outside { more_certificates: Some(PathBuf::from(file)), ..Outside::default() };
    let there = Ok("the-keeper".to_owned());
    for mode in ["verify-full", "verify-ca", "require"] {
        let words = |root: &str| format!("sslmode={mode}&sslrootcert={root}");
        assert_eq!(asked(&good, "localhost", &words(&ca), &plain), there, "{mode}");
        assert_eq!(
            asked(&good, "localhost", &words(&other), &plain),
            Err(Code::Config),
            "{mode}: wrong authority"
        );
        assert_eq!(asked(&over, "localhost", &words(&ca), &plain), Err(Code::Config), "{mode}: over");
        let wrong_name = asked(&good, "127.0.0.1", &words(&ca), &plain);
        let expected = if mode == "verify-ca" { there.clone() } else { Err(Code::Config) };
        assert_eq!(wrong_name, expected, "{mode}: wrong name");
    }
    // SSL_CERT_FILE adds.
    assert_eq!(asked(&good, "localhost", "sslmode=verify-full", &trusts(&ca)), there);
    assert_eq!(asked(&good, "localhost", "sslmode=verify-full", &plain), Err(Code::Config));
    // A server that wants to know who comes.
    let words = format!("sslmode=verify-full&sslrootcert={ca}");
    assert!(asked(&wants, "localhost", &words, &plain).is_err(), "without a certificate");
    assert_eq!(asked(&wants, "localhost", &format!("{words}&{mine}"), &plain), there);
    // In the clear nobody is let in, and a file that is not there is named.
    assert!(asked(&good, "localhost", "sslmode=disable", &plain).is_err());
    let fault =
        PgStore::at(&good.address("localhost", "tls", "sslmode=verify-full&sslrootcert=/nonexistent.pem"))
            .unwrap();
    let fault = fault.reach().unwrap_err();
    assert!(fault.code == Code::Config && fault.message.contains("/nonexistent.pem"), "{fault:?}");
}
