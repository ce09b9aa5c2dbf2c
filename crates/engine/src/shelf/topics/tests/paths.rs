//! The table of path rules.

use super::*;
use crate::shelf::topics::path_rules::{checked, placed, reachable};
use heirloom_core::Code;
use std::os::unix::fs::symlink;

const SYSTEM: &str = "Security violation: Cannot use system directory for memory storage";
const ROOT: &str = "Security violation: Cannot use root directory for memory storage";
const TRAVERSAL: &str = "Security violation: Path traversal not allowed in memory path";
const ACCESS: &str = "Path validation failed: Cannot access configured memory path";

#[test]
fn every_path_rule_answers_with_its_message() {
    let desk = Desk::new();
    let (base, home) = (desk.path(), desk.path().join("home"));
    std::fs::create_dir_all(home.join("real")).unwrap();
    std::fs::write(base.join("file"), b"x").unwrap();
    for (link, target) in
        [("to-etc", "/etc"), ("to-root", "/"), ("to-var", "/var/lib"), ("to-nowhere", "/usr/not/there")]
    {
        symlink(target, base.join(link)).unwrap();
    }
    symlink("to-nowhere", base.join("to-link")).unwrap();
    symlink(base.join("home/real"), base.join("to-home")).unwrap();
    let at = |rest: &str| base.join(rest).display().to_string();
    let mut table: Vec<(String, &str)> = ["/bin", "/usr", "/etc", "/var", "/sys", "/proc", "/boot", "/dev"]
        .iter()
        .flat_map(|dir| {
            [
                (*dir).to_owned(),
                format!("{dir}/"),
                format!("{dir}/memory"),
                format!("/.{dir}"),
                format!("/{dir}/x/./y"),
            ]
        })
        .map(|path| (path, SYSTEM))
        .collect();
    table.extend([
        // As configured.
        ("/var/folders/x".into(), SYSTEM),
        ("/".into(), ROOT),
        ("//".into(), ROOT),
        ("/.".into(), ROOT),
        ("/./.".into(), ROOT),
        ("../elsewhere".into(), TRAVERSAL),
        ("a/../b".into(), TRAVERSAL),
        ("..".into(), TRAVERSAL),
        ("~/../other".into(), TRAVERSAL),
        ("/home/../etc".into(), TRAVERSAL),
        ("/..".into(), TRAVERSAL),
        // Looks like a traversal into a system folder, and is in one already.
        ("/usr/../home/x".into(), SYSTEM),
        // Through links.
        (at("to-etc"), SYSTEM),
        (at("to-etc/deeper"), SYSTEM),
        (at("to-var/x"), SYSTEM),
        (at("to-nowhere"), SYSTEM),
        (at("to-nowhere/x"), SYSTEM),
        (at("to-root"), ROOT),
        (at("to-root/etc/x"), SYSTEM),
        // Out of reach.
        (at("file"), ACCESS),
        (at("file/below"), ACCESS),
        ("~other/x".into(), ACCESS),
        ("".into(), ACCESS),
        ("  ".into(), ACCESS),
        ("a\0b".into(), ACCESS),
    ]);
    for (path, message) in &table {
        for outcome in [checked(path, Some(&home), &base), reachable(path, Some(&home), &base)] {
            let fault = outcome.expect_err(path);
            assert_eq!(fault.message, *message, "{path}");
            assert_eq!(fault.code, if *message == ACCESS { Code::Config } else { Code::Security }, "{path}");
        }
    }
    // A link to a link to nowhere is not followed far enough to see where it ends, and so cannot be made.
    assert!(checked(&at("to-link"), Some(&home), &base).is_err());
}

#[test]
fn rules_hold_after_home_and_project_are_filled_in() {
    let desk = Desk::new();
    let base = desk.path();
    let fault =
        |path: &str, home: Option<&Path>, project: &Path| checked(path, home, project).unwrap_err().message;
    assert_eq!(fault("~/x", Some(Path::new("/etc")), &base), SYSTEM);
    assert_eq!(fault("~", Some(Path::new("/")), &base), ROOT);
    assert_eq!(fault("~/x", Some(Path::new("/home/../root")), &base), TRAVERSAL);
    assert_eq!(fault("~/x", None, &base), ACCESS);
    assert_eq!(fault("~/x", Some(Path::new("not-absolute")), &base), ACCESS);
    assert_eq!(fault("memory", None, Path::new("/usr/share/project")), SYSTEM);
    let nowhere = base.join("nowhere");
    assert!(fault("~/x", Some(&nowhere), &base).contains("home folder does not exist"));
    assert!(!nowhere.exists(), "a home is not made");
}

#[test]
fn good_paths_are_made_and_resolved() {
    let desk = Desk::new();
    let (base, home) = (desk.path(), desk.path().join("home"));
    std::fs::create_dir_all(home.join("real")).unwrap();
    symlink(base.join("home/real"), base.join("to-home")).unwrap();
    let ok = |path: &str| checked(path, Some(&home), &base).unwrap();
    assert_eq!(ok("~/lessons"), home.join("lessons"));
    assert_eq!(ok("~"), home);
    assert_eq!(ok("./memory/./deep"), base.join("memory/deep"));
    assert_eq!(ok(&base.join("to-home/new").display().to_string()), home.join("real/new"));
    assert!(home.join("real/new").is_dir());
    // Names that only begin like a system folder, and dots that are no traversal.
    for fine in ["/usrlocal", "/etcetera/x", "/binary", "/home/a..b/c", "/home/..x"] {
        assert_eq!(placed(fine, Some(&home), &base).unwrap(), Path::new(fine));
    }
}
