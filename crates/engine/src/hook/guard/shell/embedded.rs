//! Scripts of other languages inside a command: which paths they name, and whether they write at all.
//!
//! Comes in: a script as text. Goes out: the texts in quotes that may be written, and those that are shell commands. It knows no grammar, only
//! quotes, and words that write or read: a path that is only read is left out, a script without a writing word says nothing. Never here: a
//! path that is calculated character by character.

use super::super::pattern::is_mark;
use super::expand::Field;
use super::token::unescaped;

/// A language whose scripts stand on command lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Language {
    names: &'static [&'static str],
    /// Options whose value is a script.
    pub(super) scripts: &'static [&'static str],
    /// Options that have a value of their own, those of scripts included.
    pub(super) takes: &'static [&'static str],
    /// Options that change the files that are named.
    pub(super) in_place: &'static [&'static str],
    /// Which argument is the script, counted from 0, where no option gives one.
    pub(super) script_at: Option<usize>,
    /// It is in the table of programs, too, and a link in a pipe.
    pub(super) passes_on: bool,
    /// Words after which something is written, besides those of all languages.
    writes: &'static [&'static str],
}

const fn language(names: &'static [&'static str], scripts: &'static [&'static str]) -> Language {
    Language { names, scripts, takes: scripts, in_place: &[], script_at: None, passes_on: false, writes: &[] }
}

const LANGUAGES: &[Language] = &[
    Language {
        takes: &["-c", "-m", "-W", "-X"],
        ..language(&["python", "pypy", "ipython", "jython"], &["-c"])
    },
    Language {
        takes: &["-e", "--eval", "-p", "--print", "-r", "--require", "--input-type", "--import"],
        ..language(
            &["node", "nodejs", "bun", "tsx", "deno", "ts-node"],
            &["-e", "--eval", "-p", "--print", "-pe"],
        )
    },
    Language { takes: &["-e", "-r", "-I", "-C"], in_place: &["-i"], ..language(&["ruby", "jruby"], &["-e"]) },
    Language {
        takes: &["-e", "-E", "-M", "-I", "-m"],
        in_place: &["-i"],
        writes: &["open ", "print {", ">"],
        ..language(&["perl"], &["-e", "-E"])
    },
    language(&["php"], &["-r"]),
    language(
        &["lua", "luajit", "groovy", "scala", "julia", "Rscript", "R", "osascript", "elixir", "swift"],
        &["-e"],
    ),
    language(&["tclsh", "guile", "racket", "ocaml"], &["-c", "-e"]),
    Language {
        takes: &["-f", "-F", "-v", "--assign", "-i", "--include"],
        script_at: Some(0),
        passes_on: true,
        writes: &[">", "inplace"],
        ..language(&["awk", "gawk", "mawk", "nawk"], &["-e", "--source"])
    },
    Language {
        takes: &["-e", "-f", "--expression", "--file", "-l"],
        script_at: Some(0),
        passes_on: true,
        writes: &["w ", "w\t"],
        ..language(&["sed", "gsed"], &["-e", "--expression"])
    },
    Language {
        takes: &["-cmd", "-init"],
        script_at: Some(1),
        writes: &[
            "insert ", "update ", "delete ", "drop ", "create ", "vacuum", ".save", ".output", ".once",
            ".restore", "attach ",
        ],
        ..language(&["sqlite3", "duckdb"], &["-cmd"])
    },
];

/// Words that write, remove or rename in one language or another.
const WRITES: &[&str] = &[
    "write",
    "append",
    "unlink",
    "remove",
    "rmtree",
    "rmdir",
    "rmsync",
    ".rm(",
    ".rm_",
    ".rm ",
    "rename",
    "os.replace",
    ".replace(p",
    "mkdir",
    "makedirs",
    "copy",
    "move",
    "touch",
    "symlink",
    "link(",
    "chmod",
    "chown",
    "truncate",
    "dump(",
    "savetxt",
    "to_json(",
    "to_csv(",
    "outputfile",
    "createfile",
    "file_put_contents",
    "fopen",
    "io.open",
    "spew",
    "'w'",
    "\"w\"",
    "'a'",
    "\"a\"",
    "'x'",
    "\"x\"",
    "'wb'",
    "\"wb\"",
    "'ab'",
    "\"ab\"",
    "'w+'",
    "\"w+\"",
    "'a+'",
    "\"a+\"",
    "'r+'",
    "\"r+\"",
    "'r+b'",
    "'wt'",
    "\"wt\"",
    "'>'",
    "'>>'",
    "\">\"",
    "\">>\"",
    "fileinput",
    "utime",
    "extractall",
    "urlretrieve",
    "delete",
    "o_wronly",
    "o_creat",
    "o_rdwr",
    "mode=",
];

/// Words that run a shell or another program.
const RUNS: &[&str] = &[
    "system",
    "popen",
    "subprocess",
    "exec",
    "spawn",
    "check_call",
    "check_output",
    "`",
    "%x",
    "qx",
    "do shell script",
    "$`",
    "os.run",
    "command(",
];

/// Calls whose first argument is read.
const READS: &[&str] = &[
    "readfilesync(",
    "readfile(",
    "readdirsync(",
    "readdir(",
    "listdir(",
    "scandir(",
    "walk(",
    "glob(",
    "iglob(",
    "exists(",
    "existssync(",
    "isfile(",
    "isdir(",
    "stat(",
    "statsync(",
    "getsize(",
    "file.read(",
    "io.read(",
    "file.readlines(",
    "dir.glob(",
    "dir[",
    "dir.entries(",
    "dir.children(",
    "file.exist?(",
    "require(",
    "read_json(",
    "read_csv(",
    "file_get_contents(",
    "print(",
    "console.log(",
    "puts ",
    "echo ",
    "json.load(open(",
    "file.foreach(",
    "createreadstream(",
    "readlink(",
];

/// What was seen of a script.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) paths: Vec<String>,
    pub(super) commands: Vec<String>,
    pub(super) writes_arguments: bool,
}

/// The language of a program, whatever its version.
pub(super) fn language_of(name: &str) -> Option<&'static Language> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LANGUAGES.iter().find(|language| language.names.contains(&name) || language.names.contains(&bare))
}

struct Literal<'a> {
    text: String,
    before: &'a str,
    after: &'a str,
}

/// Looks into a script.
pub(super) fn look(language: &Language, script: &str, arguments: &[&Field]) -> Seen {
    let lower = script.to_lowercase();
    let of_script = language.names.contains(&"sed");
    let writes = language.writes.iter().any(|word| lower.contains(word))
        || language.script_at.is_none() && WRITES.iter().any(|word| lower.contains(word));
    let runs = RUNS.iter().any(|word| lower.contains(word));
    let mut seen = Seen::default();
    if of_script {
        // `w file` at the end of a command of sed's.
        for (at, _) in script.match_indices('w') {
            let begins = script[..at].chars().next_back().is_none_or(|c| "/$;{} gp|#,0123456789".contains(c));
            if !begins || !script[at + 1..].starts_with([' ', '\t', '.', '~']) {
                continue;
            }
            let path = script[at + 1..].trim_start_matches([' ', '\t']);
            let path = path.split(['\n', ';', '}']).next().unwrap_or_default();
            seen.paths.extend((!path.is_empty() && seen.paths.len() < 64).then(|| path.to_owned()));
        }
        return seen;
    }
    if !writes && !runs {
        return seen;
    }
    // Arguments are written where a script opens what it was given.
    let takes = ["argv", "argf", "$argv", "process.argv", "arg[", "shift", "<>"]
        .iter()
        .any(|word| lower.contains(word));
    seen.writes_arguments =
        writes && takes && !arguments.is_empty() || language.names.contains(&"sqlite3") && writes;
    let literals = literals(script);
    if writes {
        let (mut joined, mut glued) = (String::new(), String::new());
        for literal in &literals {
            let follows = literal.before.chars().all(|c| " ,/+.()\n".contains(c)) && !joined.is_empty()
                || literal.before.trim_matches([' ', ',', '/', '+', '(', ')']).ends_with("path");
            if follows && !joined.is_empty() && joined.len() < 1024 {
                joined = format!("{joined}/{}", literal.text);
                glued.push_str(&literal.text);
                seen.paths.push(joined.clone());
                seen.paths.push(glued.clone());
            } else {
                joined = literal.text.clone();
                glued = literal.text.clone();
            }
            if !is_read(literal) {
                // Perl and its like put the mode before the path.
                seen.paths.push(literal.text.trim_start_matches(['>', '+', '<', ' ']).to_owned());
            }
        }
    }
    if runs {
        let texts: Vec<&str> = literals.iter().map(|literal| literal.text.as_str()).collect();
        // A list of words is a command without a shell.
        seen.commands.push(
            texts.iter().map(|text| format!("'{}'", text.replace('\'', ""))).collect::<Vec<_>>().join(" "),
        );
        seen.commands.extend(
            texts.iter().filter(|text| text.contains(char::is_whitespace)).map(|text| (*text).to_owned()),
        );
        let ticked = script.split('`').skip(1).step_by(2).map(str::to_owned);
        seen.commands.extend(ticked);
        seen.commands.truncate(64);
    }
    seen.paths.truncate(256);
    seen
}

/// Whether a text is only read where it stands: opened without a mode that writes, or handed to something that reads.
fn is_read(literal: &Literal<'_>) -> bool {
    let before = literal.before.trim_end().to_lowercase();
    let after = literal.after.trim_start();
    if READS.iter().any(|call| before.ends_with(call.trim_end())) {
        return true;
    }
    let opened = before.ends_with("open(") && !before.ends_with("sysopen(");
    let read = after.starts_with(')')
        || [
            ", 'r'",
            ", \"r\"",
            ",'r'",
            ",\"r\"",
            ", 'rb'",
            ", \"rb\"",
            ",'rb'",
            ",\"rb\"",
            ", encoding",
            ",encoding",
        ]
        .iter()
        .any(|mode| after.starts_with(mode));
    let path = before.ends_with("path(")
        && [").read", ").glob", ").rglob", ").exists", ").iterdir", ").stat", ").is_"]
            .iter()
            .any(|call| after.starts_with(call));
    opened && read || path
}

/// The texts in quotes, each with what stands before and after it.
fn literals(script: &str) -> Vec<Literal<'_>> {
    let mut found = Vec::new();
    let bytes = script.as_bytes();
    let (mut at, mut last) = (0, 0);
    while at < bytes.len() {
        let quote = bytes[at];
        if !matches!(quote, b'\'' | b'"' | b'`') {
            at += 1;
            continue;
        }
        let start = at + 1;
        let mut end = start;
        while end < bytes.len() && bytes[end] != quote {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let Some(inner) = script.get(start..end.min(bytes.len())) else { break };
        let after = script.get(end + 1..).unwrap_or_default();
        let text = unescaped(inner).replace(is_mark, "");
        // What stands between two texts; far enough back for any call.
        let before = script.get(last..at).unwrap_or_default();
        found.push(Literal { text, before, after });
        at = end + 1;
        last = at.min(bytes.len());
    }
    found
}
