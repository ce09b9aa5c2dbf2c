//! Where the database is and how to speak to it: an address in libpq's words, and what lies beside it.
//!
//! Comes in: an address, and what the environment says (password, password file, service, certificates). Goes out: a configuration and a TLS
//! connector. Never here: a look at the environment, or a password in a message.

use crate::tls::{self, Checks};
use heirloom_core::{Code, Fault, fault::Result};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// What the environment says, as libpq reads it.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// PGPASSWORD.
    pub password: Option<String>,
    /// PGPASSFILE, else `~/.pgpass`.
    pub password_file: Option<PathBuf>,
    /// PGSERVICE.
    pub service: Option<String>,
    /// PGSERVICEFILE, else `~/.pg_service.conf`.
    pub service_file: Option<PathBuf>,
    /// SSL_CERT_FILE: certificates that are trusted beside the system's.
    pub more_certificates: Option<PathBuf>,
}

/// An address that was read.
#[derive(Clone)]
pub struct Address {
    config: Config,
    checks: Checks,
    said_password: bool,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address").field("checks", &self.checks).finish_non_exhaustive()
    }
}

/// Words of libpq that the client library does not know.
const OURS: [&str; 5] = ["sslmode", "sslrootcert", "sslcert", "sslkey", "service"];

fn wrong(why: &str) -> Fault {
    Fault::new(Code::Config, format!("the database address cannot be used: {why}"))
        .hint("write it as postgres://user@host:5432/name")
}

impl Address {
    /// Reads an address.
    pub fn parse(address: &str, outside: &Outside) -> Result<Address> {
        let (rest, mut said) = parted(address);
        let mut config: Config = rest.parse().map_err(|e: tokio_postgres::Error| {
            use std::error::Error as _;
            wrong(&e.source().map_or_else(|| "it is not an address".to_owned(), ToString::to_string))
        })?;
        let service = said
            .remove("service")
            .or_else(|| outside.service.clone().filter(|_| config.get_hosts().is_empty()));
        if let Some(name) = service {
            for (word, value) in service_of(&name, outside.service_file.as_deref())? {
                if OURS.contains(&word.as_str()) {
                    said.entry(word).or_insert(value);
                } else {
                    fill(&mut config, &word, &value)?;
                }
            }
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(wrong("it has no host"));
        }
        let said_password = config.get_password().is_some();
        if !said_password {
            let found = outside
                .password
                .clone()
                .or_else(|| outside.password_file.as_deref().and_then(|file| password_in(file, &config)));
            if let Some(password) = found {
                config.password(password);
            }
        }
        let checks = checks(&mut config, &said, outside)?;
        config.application_name("heirloom").keepalives(true);
        Ok(Address { config, checks, said_password })
    }

    /// Whether the address itself holds a password.
    pub fn says_password(&self) -> bool {
        self.said_password
    }

    pub(crate) fn config(&self, connect: Duration) -> Config {
        let mut config = self.config.clone();
        // With several hosts each gets its share, so that the last of them is asked before the whole is given up.
        let hosts = u32::try_from(config.get_hosts().len().max(1)).unwrap_or(1);
        config.connect_timeout(connect / hosts);
        config
    }

    pub(crate) fn connector(&self) -> Result<MakeRustlsConnect> {
        tls::connector(&self.checks)
    }
}

/// The address without the words that are ours, and those words.
fn parted(address: &str) -> (String, BTreeMap<String, String>) {
    let mut said = BTreeMap::new();
    let mut keep = |pair: &str, decode: bool| -> bool {
        let Some((word, value)) = pair.split_once('=') else { return true };
        let word = word.trim();
        if !OURS.contains(&word) {
            return true;
        }
        let value = value.trim().trim_matches('\'');
        said.insert(word.to_owned(), if decode { decoded(value) } else { value.to_owned() });
        false
    };
    if address.contains("://") {
        let Some((before, words)) = address.split_once('?') else { return (address.to_owned(), said) };
        let rest: Vec<&str> = words.split('&').filter(|pair| keep(pair, true)).collect();
        let rest = if rest.is_empty() { before.to_owned() } else { format!("{before}?{}", rest.join("&")) };
        return (rest, said);
    }
    let rest: Vec<&str> = address.split_whitespace().filter(|pair| keep(pair, false)).collect();
    (rest.join(" "), said)
}

/// `%2F` and the like.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What sslmode and its companions ask for.
fn checks(config: &mut Config, said: &BTreeMap<String, String>, outside: &Outside) -> Result<Checks> {
    let remote = config.get_hosts().iter().any(is_remote);
    // A password and memories in the clear across a network are never what somebody meant by saying nothing.
    let mode = said.get("sslmode").map_or(if remote { "require" } else { "prefer" }, String::as_str);
    let (ssl, name) = match mode {
        "disable" => (SslMode::Disable, true),
        "allow" | "prefer" => (SslMode::Prefer, true),
        // Stricter than libpq, which takes any certificate here.
        "require" | "verify-full" => (SslMode::Require, true),
        "verify-ca" => (SslMode::Require, false),
        other => {
            return Err(wrong(&format!("there is no sslmode `{other}`"))
                .hint("use verify-full, verify-ca, require or disable"));
        }
    };
    config.ssl_mode(ssl);
    let file = |word: &str| said.get(word).map(PathBuf::from);
    let roots = file("sslrootcert").filter(|path| path != Path::new("system"));
    let client = match (file("sslcert"), file("sslkey")) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err(wrong("sslcert and sslkey must be given together")),
    };
    Ok(Checks { roots, more: outside.more_certificates.clone(), name, client, used: ssl != SslMode::Disable })
}

/// Whether what is said to a host leaves this machine.
fn is_remote(host: &Host) -> bool {
    match host {
        Host::Unix(_) => false,
        Host::Tcp(name) => {
            let address = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
            name != "localhost" && !address.is_ok_and(|address| address.is_loopback())
        }
    }
}

/// A word of a service in the configuration, unless the address said it.
fn fill(config: &mut Config, word: &str, value: &str) -> Result<()> {
    match word {
        "host" if config.get_hosts().is_empty() => {
            config.host(value);
        }
        "port" if config.get_ports().is_empty() => {
            config.port(value.parse().map_err(|_| wrong("the service's port is not a number"))?);
        }
        "dbname" if config.get_dbname().is_none() => {
            config.dbname(value);
        }
        "user" if config.get_user().is_none() => {
            config.user(value);
        }
        "password" if config.get_password().is_none() => {
            config.password(value);
        }
        _ => {}
    }
    Ok(())
}

/// The words of a service in a service file.
fn service_of(name: &str, file: Option<&Path>) -> Result<Vec<(String, String)>> {
    let missing = |why: String| {
        Fault::new(Code::Config, format!("the service `{name}` cannot be used: {why}"))
            .hint("name it in ~/.pg_service.conf or in the file that PGSERVICEFILE names")
    };
    let file = file.ok_or_else(|| missing("the service file does not exist".to_owned()))?;
    let text = std::fs::read_to_string(file).map_err(|e| missing(format!("`{}`: {e}", file.display())))?;
    let mut inside = false;
    let mut found = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = section.trim() == name;
            if inside {
                found.get_or_insert_with(Vec::new);
            }
        } else if let (true, Some((word, value)), Some(words)) =
            (inside, line.split_once('='), found.as_mut())
        {
            words.push((word.trim().to_owned(), value.trim().to_owned()));
        }
    }
    found.ok_or_else(|| missing(format!("`{}` does not define it", file.display())))
}

/// The password of a password file for this server, database and user. A file that others can read does not count, as with libpq.
fn password_in(file: &Path, config: &Config) -> Option<String> {
    let meta = std::fs::metadata(file).ok().filter(|meta| meta.is_file() && meta.mode() & 0o077 == 0)?;
    if meta.len() > 1 << 20 {
        return None;
    }
    let host = match config.get_hosts().first()? {
        Host::Tcp(name) => name.clone(),
        Host::Unix(_) => "localhost".to_owned(),
    };
    let port = config.get_ports().first().map_or_else(|| "5432".to_owned(), ToString::to_string);
    let user = config.get_user().unwrap_or_default();
    let wanted = [host.as_str(), port.as_str(), config.get_dbname().unwrap_or(user), user];
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields_of(line);
        let fits =
            fields.len() == 5 && wanted.iter().zip(&fields).all(|(want, has)| has == "*" || has == want);
        fits.then(|| fields[4].clone())
    })
}

/// The fields of a line; a backslash before a colon or a backslash makes it plain.
fn fields_of(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(chars.next())),
            ':' if fields.len() < 5 => fields.push(String::new()),
            c => fields.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Address {
        Address::parse(address, &Outside::default()).unwrap()
    }

    #[test]
    fn across_a_network_tls_is_asked_for_unless_the_address_says_otherwise() {
        let mode = |address: &str| at(address).config.get_ssl_mode();
        assert_eq!(mode("postgres://a@db.example.org/x"), SslMode::Require);
        assert_eq!(mode("postgres://a@10.0.0.7/x"), SslMode::Require);
        assert_eq!(mode("postgres://a@db.example.org/x?sslmode=disable"), SslMode::Disable);
        for near in ["localhost", "127.0.0.1", "[::1]", "%2Ftmp"] {
            assert_eq!(mode(&format!("postgres://a@{near}/x")), SslMode::Prefer, "{near}");
        }
    }

    #[test]
    fn the_words_of_libpq_are_understood() {
        let full = at(
            "postgres://a@h/x?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem&target_session_attrs=read-write",
        );
        assert_eq!(full.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(full.checks.roots.as_deref(), Some(Path::new("/etc/ca.pem")));
        assert!(full.checks.name && !at("host=h user=a sslmode=verify-ca").checks.name);
        for wrong in [
            "postgres://a@h/x?sslmode=perhaps",
            "postgres://a@h/x?sslcert=c.pem",
            "not an address",
            "postgres:///x",
        ] {
            assert_eq!(Address::parse(wrong, &Outside::default()).unwrap_err().code, Code::Config, "{wrong}");
        }
    }

    #[test]
    fn a_password_comes_from_the_address_the_environment_or_a_private_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        std::fs::write(&file, "# mine\nother:*:*:*:no\nh:5432:x:a:one\\:two\n").unwrap();
        let mut outside = Outside { password_file: Some(file.clone()), ..Outside::default() };
        let found = |address: &str, outside: &Outside| {
            let address = Address::parse(address, outside).unwrap();
            address.config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(found("postgres://a@h/x", &outside), None, "others can read it");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(found("postgres://a@h/x", &outside).as_deref(), Some("one:two"));
        assert_eq!(found("postgres://b@h/x", &outside), None);
        outside.password = Some("env".to_owned());
        assert_eq!(found("postgres://a@h/x", &outside).as_deref(), Some("env"));
        assert_eq!(found("postgres://a:own@h/x", &outside).as_deref(), Some("own"));
        assert!(at("postgres://a:own@h/x").says_password() && !at("postgres://a@h/x").says_password());
    }

    #[test]
    fn a_service_fills_in_what_the_address_leaves_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("service.conf");
        std::fs::write(
            &file,
            "[other]\nhost=no\n[team]\nhost=db\nport=6432\ndbname=heirloom\nuser=app\nsslmode=disable\n",
        )
        .unwrap();
        let outside =
            Outside { service: Some("team".to_owned()), service_file: Some(file), ..Outside::default() };
        let address = Address::parse("postgres://", &outside).unwrap();
        assert_eq!(address.config.get_dbname(), Some("heirloom"));
        assert_eq!(
            (address.config.get_ports(), address.config.get_ssl_mode()),
            (&[6432][..], SslMode::Disable)
        );
        let named =
            Address::parse("postgres://me@/mine?service=team", &Outside { service: None, ..outside.clone() })
                .unwrap();
        assert_eq!((named.config.get_user(), named.config.get_dbname()), (Some("me"), Some("mine")));
        assert!(
            Address::parse("postgres://?service=nobody", &outside).unwrap_err().message.contains("nobody")
        );
    }
}
