//! Fuzz targets: one for each place that reads what a stranger may have written.
//!
//! Comes in: bytes. Goes out: nothing, or a panic when a law does not hold. The laws are weak on purpose (nothing panics, what was read can be
//! written and read again, nobody gains rights): the strong ones are property tests beside the code. Never here: a file outside a
//! temporary folder, or the network.
//!
//! `cargo xtask fuzz` runs them under libFuzzer; `tests/corpus.rs` runs the kept inputs with every test run.

mod archive;
mod arrival;
mod files;
mod repository;
mod scan;

/// What is done with an input.
pub type Run = fn(&[u8]);

/// A target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: the folder of its corpus.
    pub name: &'static str,
    /// What it reads.
    pub reads: &'static str,
    /// What is done with an input.
    pub run: Run,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "gate", reads: "any text, on every shelf and at every trust", run: scan::gate },
    Target { name: "front_matter", reads: "a note's file", run: files::front_matter },
    Target { name: "topics", reads: "topic files, and two versions of one", run: files::topics },
    Target { name: "vault", reads: "vault lines", run: files::vault },
    Target { name: "records", reads: "a record's JSON", run: files::records },
    Target {
        name: "index",
        reads: "index.md of records and topics, and two versions of one",
        run: files::index,
    },
    Target {
        name: "transcripts",
        reads: "what agents write down of a conversation",
        run: arrival::transcripts,
    },
    Target {
        name: "hook_input",
        reads: "what agents send to hooks, and the shell commands in it",
        run: arrival::hook_input,
    },
    Target { name: "shell", reads: "shell commands, as the guard reads them", run: arrival::shell },
    Target {
        name: "settings",
        reads: "a project's settings, and settings files of agents",
        run: arrival::settings,
    },
    Target {
        name: "flatten",
        reads: "settings documents, however they are spelled, in every layer",
        run: arrival::flatten,
    },
    Target {
        name: "git",
        reads: "a repository's folder: names, packed names, objects and packs",
        run: repository::git,
    },
    Target { name: "archive", reads: "an archive of turns and facts", run: archive::archive },
    Target { name: "query", reads: "a line of search words", run: arrival::query },
];

/// The target of that name.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Parts of an input that stand for several files: a line of three percent signs parts them.
fn parts<const N: usize>(bytes: &[u8]) -> [&[u8]; N] {
    const MARK: &[u8] = b"\n%%%\n";
    let mut rest = bytes;
    std::array::from_fn(|at| {
        let end = rest.windows(MARK.len()).position(|w| w == MARK).filter(|_| at + 1 < N);
        let part = &rest[..end.unwrap_or(rest.len())];
        rest = end.map_or(&[][..], |end| &rest[end + MARK.len()..]);
        part
    })
}
