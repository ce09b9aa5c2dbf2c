//! The one table of programs that write: which of their arguments they write, move or remove.
//!
//! Comes in: nothing. Goes out: rows. A program that is not here writes nothing that its command line shows; what it does write is found
//! afterwards. Programs that run others are in [`WRAPPERS`]; those with a grammar of their own in `special`.

/// What a program does with its arguments. Options are not arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Writes each.
    Each,
    /// Writes each but the first so many.
    After(usize),
    /// Writes one, counted from 0.
    Nth(usize),
    /// Writes the last.
    Last,
    /// Puts the others into the last, or under its name; `-t` names it first.
    Into,
    /// Takes away all but the last.
    Moved,
    /// Writes each, or what is below the folder it works in if nothing is named.
    Here,
    /// Takes each away; with what is below it if it is told to.
    Removed,
    /// Writes what one of these options names.
    Value(&'static [&'static str]),
    /// Writes what stands behind this.
    Keyed(&'static str),
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    pub(super) acts: &'static [Act],
    /// It writes only with one of these options; empty for always.
    pub(super) only_with: &'static [&'static str],
    /// It writes nothing with one of these.
    pub(super) unless: &'static [&'static str],
    /// Options that have a value of their own.
    pub(super) takes: &'static [&'static str],
    /// The first argument is a script and not a file, unless one of these options gives it.
    pub(super) script: &'static [&'static str],
}

const fn row(names: &'static [&'static str], acts: &'static [Act]) -> Program {
    Program { names, acts, only_with: &[], unless: &[], takes: &[], script: &[] }
}

const OUT: &[&str] = &["-o", "--output", "--out", "-out", "--outfile", "--output-file"];
const INTO: &[&str] = &[
    "-t",
    "--target-directory",
    "-S",
    "--suffix",
    "-m",
    "--mode",
    "-g",
    "--group",
    "--owner",
    "-e",
    "--rsh",
];

/// All of them. Two words are a program and its subcommand.
pub(super) const PROGRAMS: &[Program] = &[
    row(&["tee", "touch", "mkdir", "mkfifo", "mknod", "sponge", "mktemp"], &[Act::Each]),
    Program {
        takes: &["-s", "--size", "-r", "--reference", "-l", "-o"],
        ..row(&["truncate", "fallocate"], &[Act::Each])
    },
    row(&["rm", "rmdir", "unlink", "shred", "srm", "trash", "trash-put", "rimraf", "wipe"], &[Act::Removed]),
    row(&["gio trash", "gio remove"], &[Act::Removed]),
    row(&["mv", "gio move"], &[Act::Into, Act::Moved]),
    row(&["cp", "gio copy", "ditto", "pax"], &[Act::Into]),
    Program { takes: INTO, ..row(&["install", "ginstall", "gcp", "scp"], &[Act::Into]) },
    Program {
        takes: &["-e", "--rsh", "--exclude", "--include", "-f", "--filter", "--files-from"],
        ..row(&["rsync"], &[Act::Into])
    },
    row(&["rclone copy", "rclone sync", "rclone move", "rclone copyto"], &[Act::Last]),
    row(&["link"], &[Act::Each]),
    row(&["dd"], &[Act::Keyed("of=")]),
    Program {
        takes: &["--reference"],
        ..row(&["chmod", "chown", "chgrp", "chattr", "setfacl", "chflags", "xattr"], &[Act::After(1)])
    },
    row(&["mount"], &[Act::Each]),
    // Editors of a file, interactive or not.
    Program { unless: &["-R", "-M"], ..row(&["vi", "vim", "nvim"], &[Act::Each]) },
    row(&["ex", "ed", "nano", "emacs", "pico", "micro", "joe", "dos2unix", "unix2dos"], &[Act::Each]),
    Program {
        only_with: &["-i", "--in-place"],
        takes: &["-e", "-f", "--expression", "--file", "-l"],
        script: &["-e", "-f", "--expression", "--file"],
        ..row(&["sed", "gsed"], &[Act::Each])
    },
    Program {
        only_with: &["-i", "--inplace", "--in-place"],
        script: &["-f"],
        takes: &["-f"],
        ..row(&["yq", "dasel"], &[Act::Each])
    },
    Program {
        only_with: &["-i", "--in-place", "-w", "--write", "--fix", "--apply"],
        takes: &["--style", "-style"],
        ..row(
            &[
                "clang-format",
                "gofmt",
                "goimports",
                "prettier",
                "eslint",
                "biome",
                "shfmt",
                "autopep8",
                "markdownlint",
                "jsonlint",
                "fixjson",
            ],
            &[Act::Each],
        )
    },
    Program {
        unless: &["--check", "--diff"],
        ..row(&["black", "rustfmt", "isort", "ruff format"], &[Act::Each])
    },
    Program { unless: &["-p", "--preview"], ..row(&["sd"], &[Act::After(2)]) },
    Program {
        takes: &["-e"],
        script: &["-e"],
        unless: &["-n"],
        ..row(&["rename", "prename", "mmv"], &[Act::Each])
    },
    Program { takes: &["-o", "-k", "-t", "-T", "-S"], ..row(&["sort"], &[Act::Value(&["-o", "--output"])]) },
    Program { takes: &["-f", "-s", "-w"], ..row(&["uniq"], &[Act::Nth(1)]) },
    Program { takes: &["-l", "-b", "-n", "-C", "-a"], ..row(&["split"], &[Act::Nth(1)]) },
    Program {
        takes: &["-f", "--prefix", "-n", "-b"],
        ..row(&["csplit"], &[Act::Value(&["-f", "--prefix"])])
    },
    Program { takes: &["-c", "-l", "-s", "-o"], ..row(&["xxd"], &[Act::Nth(1)]) },
    Program {
        takes: OUT,
        ..row(
            &[
                "iconv", "openssl", "gpg", "age", "pandoc", "protoc", "cc", "gcc", "clang", "rustc", "ld",
                "dot", "uudecode", "jq", "esbuild", "objcopy",
            ],
            &[Act::Value(OUT)],
        )
    },
    Program { takes: OUT, ..row(&["base64", "base32", "zstd", "lz4"], &[Act::Value(OUT)]) },
    Program {
        unless: &["-c", "--stdout", "-l", "-t", "--list", "--test"],
        ..row(&["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "compress"], &[Act::Each])
    },
    row(&["ffmpeg", "convert", "magick"], &[Act::Last]),
    Program {
        takes: &[
            "-o",
            "--output",
            "--output-dir",
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--trace",
            "--trace-ascii",
            "--stderr",
            "-H",
            "--header",
            "-d",
            "--data",
            "-X",
            "--request",
            "-u",
            "--user",
            "-A",
            "-F",
            "-T",
            "-b",
            "-e",
            "-w",
            "-K",
            "-m",
            "--max-time",
        ],
        ..row(
            &["curl"],
            &[Act::Value(&[
                "-o",
                "--output",
                "--output-dir",
                "-D",
                "--dump-header",
                "-c",
                "--cookie-jar",
                "--trace",
                "--trace-ascii",
                "--stderr",
                "--etag-save",
                "--hsts",
            ])],
        )
    },
    Program {
        takes: &[
            "-O",
            "--output-document",
            "-P",
            "--directory-prefix",
            "-o",
            "-a",
            "--output-file",
            "--append-output",
            "-T",
            "-t",
            "-U",
        ],
        ..row(
            &["wget", "wget2"],
            &[Act::Value(&[
                "-O",
                "--output-document",
                "-P",
                "--directory-prefix",
                "-o",
                "-a",
                "--output-file",
                "--append-output",
            ])],
        )
    },
    Program {
        takes: &["-o", "-d", "--dir", "--out"],
        ..row(
            &["aria2c", "axel", "http", "https", "xh", "yt-dlp"],
            &[Act::Value(&["-o", "-d", "--dir", "--out", "--output"])],
        )
    },
    Program {
        takes: &["-d", "-x", "-P"],
        ..row(&["unzip", "unrar", "ouch", "bsdunzip"], &[Act::Value(&["-d", "--dir"])])
    },
    Program { ..row(&["7z", "7za", "7zz"], &[Act::Keyed("-o"), Act::Nth(1)]) },
    Program { takes: &["-x", "-i", "-b"], ..row(&["zip"], &[Act::Nth(0)]) },
    Program {
        takes: &["-D", "--directory", "-F", "-O", "-I", "-H"],
        ..row(&["cpio"], &[Act::Value(&["-D", "--directory", "-F", "-O"])])
    },
    Program {
        takes: &["-D", "--directory"],
        ..row(&["unsquashfs", "bsdtar"], &[Act::Value(&["-D", "-d", "-C", "--directory"])])
    },
    Program {
        takes: &["-d", "--directory", "-o", "--output", "-i", "--input", "-p", "-r", "-F"],
        ..row(&["patch"], &[Act::Nth(0), Act::Value(&["-d", "--directory", "-o", "--output", "-r"])])
    },
    Program { takes: &["-c", "-o"], ..row(&["script"], &[Act::Nth(0)]) },
    row(&["cmake -E"], &[Act::After(1)]),
    Program {
        takes: &["-e", "--env", "--name", "-p"],
        ..row(&["docker cp", "podman cp", "kubectl cp"], &[Act::Nth(1)])
    },
    // Version control, where a path is named.
    Program { takes: &["-b", "-B", "--orphan"], ..row(&["git checkout"], &[Act::Each]) },
    Program { takes: &["-s", "--source"], unless: &["--staged"], ..row(&["git restore"], &[Act::Each]) },
    Program {
        only_with: &["--worktree", "-W"],
        takes: &["-s", "--source"],
        ..row(&["git restore"], &[Act::Each])
    },
    Program { unless: &["--cached", "-n", "--dry-run"], ..row(&["git rm"], &[Act::Removed]) },
    row(&["git mv"], &[Act::Into, Act::Moved]),
    Program {
        unless: &["-n", "--dry-run"],
        takes: &["-e", "--exclude"],
        ..row(&["git clean"], &[Act::Here])
    },
    Program {
        takes: &["--directory", "-p", "--exclude", "--include"],
        unless: &["--check", "--stat", "--cached"],
        ..row(&["git apply", "git am"], &[Act::Value(&["--directory"])])
    },
    Program { takes: &["-m", "--message"], ..row(&["git stash push"], &[Act::Each]) },
    Program {
        takes: &["-b", "--branch", "--depth", "-o", "-c", "--reference"],
        ..row(&["git clone"], &[Act::Nth(1)])
    },
    Program { takes: &["-b", "-B"], ..row(&["git worktree add"], &[Act::Nth(0)]) },
    Program { takes: &["-b", "--name"], ..row(&["git submodule add"], &[Act::Nth(1)]) },
    Program { takes: &["-b"], ..row(&["git init"], &[Act::Nth(0)]) },
    Program {
        takes: &["-o", "--output", "--output-directory", "--prefix", "--format"],
        ..row(
            &["git archive", "git format-patch", "git diff", "git log", "git show"],
            &[Act::Value(&["-o", "--output", "--output-directory"])],
        )
    },
    row(&["git bundle create"], &[Act::Nth(0)]),
    Program {
        takes: &["--prefix", "-P"],
        ..row(
            &["git subtree add", "git subtree pull", "git read-tree", "git checkout-index"],
            &[Act::Value(&["--prefix", "-P"])],
        )
    },
    row(&["hg revert", "hg remove", "svn revert", "svn rm", "jj restore"], &[Act::Each]),
];

/// A program that runs another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// What follows its name, for instance `run`; empty for nothing.
    pub(super) then: &'static str,
    /// Options that have a value of their own.
    pub(super) takes: &'static [&'static str],
    /// Arguments before the other program.
    pub(super) skip: usize,
}

const fn wrap(name: &'static str, takes: &'static [&'static str], skip: usize) -> Wrapper {
    Wrapper { name, then: "", takes, skip }
}

const fn then(name: &'static str, then: &'static str) -> Wrapper {
    Wrapper { name, then, takes: &["--with", "--python", "-p", "--package", "-n"], skip: 0 }
}

/// All of them.
pub(super) const WRAPPERS: &[Wrapper] = &[
    wrap("sudo", &["-u", "-g", "-h", "-p", "-C", "-D", "-U", "-R", "-T", "--user", "--chdir"], 0),
    wrap("doas", &["-u", "-C"], 0),
    wrap("env", &["-u", "--unset", "-C", "--chdir"], 0),
    wrap("command", &[], 0),
    wrap("builtin", &[], 0),
    wrap("exec", &["-a"], 0),
    wrap("nohup", &[], 0),
    wrap("setsid", &[], 0),
    wrap("time", &["-f", "-o"], 0),
    wrap("nice", &["-n", "--adjustment"], 0),
    wrap("ionice", &["-c", "-n", "-p"], 0),
    wrap("chrt", &[], 1),
    wrap("taskset", &["-c"], 1),
    wrap("timeout", &["-k", "-s", "--signal", "--kill-after"], 1),
    wrap("gtimeout", &["-k", "-s"], 1),
    wrap("stdbuf", &["-i", "-o", "-e"], 0),
    wrap("unbuffer", &[], 0),
    wrap("flock", &["-w", "-E", "--timeout"], 1),
    wrap("strace", &["-o", "-e", "-p", "-s"], 0),
    wrap("ltrace", &["-o", "-e"], 0),
    wrap("watch", &["-n", "--interval"], 0),
    wrap("caffeinate", &["-t", "-w"], 0),
    wrap("busybox", &[], 0),
    wrap("toybox", &[], 0),
    wrap("unshare", &[], 0),
    wrap("fakeroot", &[], 0),
    wrap("proxychains", &["-f"], 0),
    wrap("xvfb-run", &["-s", "-n"], 0),
    wrap("chronic", &[], 0),
    wrap("ts", &[], 0),
    wrap("npx", &["-p", "--package"], 0),
    wrap("bunx", &[], 0),
    wrap("pipx", &[], 1),
    then("uv", "run"),
    then("poetry", "run"),
    then("pipenv", "run"),
    then("pdm", "run"),
    then("hatch", "run"),
    then("conda", "run"),
    then("mise", "exec"),
    then("bundle", "exec"),
    then("pnpm", "exec"),
    then("pnpm", "dlx"),
    then("npm", "exec"),
    then("yarn", "exec"),
    then("yarn", "dlx"),
    then("bun", "x"),
    Wrapper { name: "direnv", then: "exec", takes: &[], skip: 1 },
];

/// The rows of a program; with a subcommand those of both.
pub(super) fn rows<'a>(
    name: &'a str,
    args: &'a [&'a str],
) -> impl Iterator<Item = (&'static Program, usize)> + 'a {
    PROGRAMS.iter().filter_map(move |program| {
        let words = program.names.iter().find_map(|full| {
            let mut words = full.split(' ');
            let fits = words.next() == Some(name);
            let more = words.clone().count();
            (fits && words.zip(args).filter(|(word, arg)| word == *arg).count() == more).then_some(more)
        })?;
        Some((program, words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subcommand_is_found_behind_its_program() {
        let count = |name: &str, args: &[&str]| rows(name, args).map(|(_, words)| words).collect::<Vec<_>>();
        assert_eq!(count("git", &["stash", "push", "x"]), [2]);
        assert_eq!(count("git", &["stash"]), [0; 0]);
        assert_eq!(count("git", &["status"]), [0; 0]);
        assert_eq!(count("cp", &[]), [0]);
    }

    #[test]
    fn no_program_is_in_the_table_twice_but_for_another_option() {
        let mut names: Vec<(&str, &[&str])> =
            PROGRAMS.iter().flat_map(|row| row.names.iter().map(|name| (*name, row.only_with))).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
