//! `serve`: the memory for programs and agents, over HTTP.

use crate::args::{self, Args};
use crate::desk::Office;
use crate::output::Out;
use crate::wiring::{self, random, world};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::files::{self, Mode};
use heirloom_server::http::{Limits, Options, TlsFiles};
use heirloom_server::page;
use std::path::PathBuf;

/// The longest key that is read.
const KEY_MAX: u64 = 64;

pub(crate) fn run(args: &Args, call: &args::Serve, out: &Out) -> Result<u8> {
    let here = wiring::cwd(args)?;
    let mut projects: Vec<PathBuf> = args.project.iter().map(|_| here.clone()).collect();
    for folder in &call.folders {
        let folder = here.join(folder);
        if !folder.is_dir() {
            return Err(Fault::new(Code::Usage, format!("`{}` is not a folder", folder.display()))
                .hint("give existing project folders: heirloom serve FOLDER"));
        }
        projects.push(folder);
    }
    let folder = world().data.join("server");
    files::make_folder(&folder, Mode::Private)?;
    let token = format!("hls_{}", hex(&random()?));
    let tls = call
        .tls_cert
        .clone()
        .zip(call.tls_key.clone())
        .map(|(certificate, key)| TlsFiles { certificate, key });
    let scheme = if tls.is_some() { "https" } else { "http" };
    let options = Options {
        listen: call.listen,
        projects,
        tls,
        behind_proxy: call.behind_proxy,
        hosts: call.host.clone(),
        origins: call.origin.clone(),
        // A cookie of 127.0.0.1 would reach every port of this machine.
        page: Some(format!("{}.localhost", &hex(&random()?)[..16])),
        token: token.clone(),
        key: key(&folder)?,
        limits: Limits {
            rate: f64::from(call.rate.max(1)),
            connections: connections(),
            workers: workers(),
            ..Limits::default()
        },
    };
    let mut token_file = None;
    let served = page::serve(Office::open(args)?, &options, |address| {
        let path = folder.join(format!("{}.token", address.port()));
        files::write(&path, format!("{token}\n").as_bytes(), Mode::Private)?;
        out.line(format!("listening on {scheme}://{address}"));
        out.line(format!("token file {}", path.display()));
        token_file = Some(path);
        Ok(())
    });
    // The token ends with the server.
    if let Some(path) = token_file {
        let _ = files::remove(&path);
    }
    served.map(|()| exit::OK)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The secret by which a server of this account proves whose it is; made once.
fn key(folder: &std::path::Path) -> Result<Vec<u8>> {
    let path = folder.join("key");
    if let Some(key) = files::read_if_there(&path, KEY_MAX)?.filter(|key| key.len() == 32) {
        return Ok(key);
    }
    let fresh = random()?;
    files::write(&path, &fresh, Mode::Private)?;
    Ok(fresh.to_vec())
}

/// Connections at once: what the system allows, and no more than are of use.
fn connections() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let files = getrlimit(Resource::Nofile).current.unwrap_or(65_536);
    // The engine needs some for databases and files: half of few, two thousand of many.
    let files = usize::try_from(files).unwrap_or(65_536);
    files.saturating_sub((files / 2).min(2_048)).clamp(64, 8_192)
}

/// Threads that work on requests.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(4, |cores| cores.get() * 2).clamp(4, 32)
}
