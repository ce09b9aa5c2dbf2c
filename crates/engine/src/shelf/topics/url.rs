//! Addresses of git repositories: which may be spoken to.
//!
//! Comes in: a configured path or a remote's URL. Goes out: whether it is an address at all, and if so whether it is safe to hand to
//! git. Never here: the network.

use heirloom_core::{Code, Fault, fault::Result};
use std::path::Path;

/// Whether a configured text is an address rather than a folder.
pub(super) fn is_address(text: &str) -> bool {
    let before_slash = text.split('/').next().unwrap_or_default();
    text.starts_with('-')
        || text.contains("://")
        || (before_slash.contains(':') && !text.starts_with(['.', '~']))
}

/// The address, if git may have it. A plain folder is one too.
pub(super) fn checked(address: &str) -> Result<&str> {
    let refused = |why: &str, hint: &str| {
        Err(Fault::new(Code::Security, format!("Heirloom does not use this git address: {why}"))
            .fact("url", shown(address))
            .hint(hint))
    };
    if address.is_empty() || address.starts_with('-') {
        return refused("git would take it for an option", "use an https or ssh address, or a folder");
    }
    if address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return refused(
            "it holds white space or control characters",
            "use an https or ssh address, or a folder",
        );
    }
    let scheme_end = address.bytes().take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b)).count();
    if address[scheme_end..].starts_with("::") {
        return refused("it names a program that would run", "use an https or ssh address, or a folder");
    }
    if let Some(rest) = address[scheme_end..].strip_prefix("://") {
        let host = rest.split('/').next().unwrap_or_default();
        let (account, host) = host.rsplit_once('@').map_or(("", host), |(account, host)| (account, host));
        if host.starts_with('-') || account.starts_with('-') {
            return refused("ssh would take its host for an option", "use a plain host name");
        }
        return match address[..scheme_end].to_ascii_lowercase().as_str() {
            "https" | "ssh" if account.contains(':') => {
                refused("it holds a password", "leave it to your credential helper or ssh key")
            }
            "https" | "ssh" => Ok(address),
            "file" if host.is_empty() => Ok(address),
            _ => refused("only https, ssh and file addresses are supported", "use an https or ssh address"),
        };
    }
    // host:path, the short form of ssh.
    let before_slash = address.split('/').next().unwrap_or_default();
    if let Some((host, _)) = before_slash.split_once(':') {
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        if host.is_empty() || host.starts_with('-') || before_slash.contains("::") {
            return refused("it has no host", "use an https or ssh address");
        }
    }
    Ok(address)
}

/// Whether an address leads to this machine.
pub(super) fn is_local(address: &str) -> bool {
    local_folder(address).is_some() || !is_address(address)
}

/// The folder an address leads to on this machine.
pub(super) fn local_folder(address: &str) -> Option<&Path> {
    address.get(..7).filter(|head| head.eq_ignore_ascii_case("file://")).map(|_| Path::new(&address[7..]))
}

/// An address without what stands before its host.
pub(super) fn shown(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => address.to_owned(),
    }
}

/// A text whose addresses are without what stands before their hosts.
pub(super) fn all_shown(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || "/'\"".contains(c)).unwrap_or(after.len());
        rest = after[..end].rfind('@').map_or(after, |before_host| &after[before_host + 1..]);
    }
    out + rest
}
