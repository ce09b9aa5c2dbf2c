//! Shell commands, read without running them: which files a command would write.
//!
//! Comes in: a command line. Goes out: targets of redirections, and of the well-known commands that write, move or remove
//! files, each with the folder it starts from as far as plain `cd`s show. Text in quotes and here-documents is text, not
//! commands. Never here: running, expanding or looking at files. One pass, linear in the command.

use std::path::{Path, PathBuf};

/// A file that a command would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) cwd: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `>`, `>>`, `>|`, `&>`, `<>`: the next word is written.
    Into,
    /// `<`, `<<<`: the next word is read.
    From,
    /// `;`, `|`, `&&`, a line break, …: the next word is a command.
    Break,
}

/// Shells that are given a command as an argument may be nested so deep.
const DEPTH_MAX: usize = 3;
/// Whoever writes more files than this in one command is not writing memories by mistake.
const TARGETS_MAX: usize = 1_000;
/// Longer paths are nobody's.
const FOLDER_MAX: usize = 8 << 10;

/// The files a command would write, as far as it can be seen.
pub(super) fn targets(command: &str, cwd: &Path) -> Vec<Target> {
    let mut found = Vec::new();
    look(command, cwd, DEPTH_MAX, &mut found);
    found
}

fn look(command: &str, cwd: &Path, depth: usize, found: &mut Vec<Target>) {
    let mut cwd = cwd.to_owned();
    for simple in tokens(command).split(|token| *token == Token::Break) {
        if found.len() > TARGETS_MAX {
            return;
        }
        let mut words: Vec<&str> = Vec::new();
        let mut tokens = simple.iter();
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) => words.push(word),
                Token::Into | Token::From => {
                    if let (Token::Into, Some(Token::Word(path))) = (token, tokens.next()) {
                        found.push(Target { path: path.clone(), cwd: cwd.clone() });
                    }
                }
                Token::Break => {}
            }
        }
        let words = command_words(&words);
        let Some((&name, args)) = words.split_first() else { continue };
        let name = name.rsplit('/').next().unwrap_or(name);
        match name {
            "cd" => {
                let folder = args.iter().find(|arg| !arg.starts_with('-'));
                if let Some(folder) = folder.filter(|_| cwd.as_os_str().len() < FOLDER_MAX) {
                    cwd = cwd.join(folder);
                }
            }
            "sh" | "bash" | "zsh" | "dash" if depth > 0 => {
                let flag = args.iter().position(|arg| arg.starts_with('-') && arg.ends_with('c'));
                if let Some(inner) = flag.and_then(|at| args.get(at + 1)) {
                    look(inner, &cwd, depth - 1, found);
                }
            }
            _ => {
                found.extend(written_by(name, args).into_iter().map(|path| Target { path, cwd: cwd.clone() }))
            }
        }
    }
}

/// Without the words before the command itself: assignments, keywords, wrappers and their options.
fn command_words<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    const BEFORE: &[&str] = &[
        "sudo", "env", "command", "exec", "nohup", "time", "nice", "then", "do", "else", "if", "while",
        "until", "!", "{", "(",
    ];
    let mut rest = words;
    let mut wrapped = false;
    while let Some((first, after)) = rest.split_first() {
        let assignment = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        if BEFORE.contains(first) {
            wrapped = true;
        } else if !(assignment || wrapped && first.starts_with('-')) {
            break;
        }
        rest = after;
    }
    rest
}

/// What a well-known command writes, by its name.
fn written_by(name: &str, args: &[&str]) -> Vec<String> {
    let plain = || args.iter().filter(|arg| !arg.starts_with('-')).map(|arg| (*arg).to_owned());
    let all = || plain().collect::<Vec<_>>();
    let in_place = args.iter().any(|arg| {
        arg.starts_with("--in-place")
            || arg.starts_with("-i")
            || arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('i')
    });
    match name {
        "tee" | "touch" | "truncate" | "rm" | "rmdir" | "unlink" | "shred" | "mkdir" | "mv" | "patch" => {
            all()
        }
        // The last one is written; with `-t` the folder comes first.
        "cp" | "install" | "ln" | "rsync" | "scp" => {
            let named = args.iter().enumerate().find_map(|(at, arg)| match *arg {
                "-t" | "--target-directory" => args.get(at + 1).map(|folder| (*folder).to_owned()),
                _ => arg.strip_prefix("--target-directory=").map(str::to_owned),
            });
            named.or_else(|| plain().next_back()).into_iter().collect()
        }
        "sed" | "perl" | "ruby" if in_place => all(),
        "dd" => args.iter().filter_map(|arg| arg.strip_prefix("of=")).map(str::to_owned).collect(),
        "chmod" | "chown" => plain().skip(1).collect(),
        _ => Vec::new(),
    }
}

fn tokens(command: &str) -> Vec<Token> {
    let mut reader = Reader { rest: command, out: Vec::new(), word: None, bodies: Vec::new() };
    while let Some(c) = reader.rest.chars().next() {
        reader.step(c);
    }
    reader.end_word();
    reader.out
}

struct Reader<'a> {
    rest: &'a str,
    out: Vec<Token>,
    word: Option<String>,
    /// Delimiters of here-documents whose bodies begin after this line.
    bodies: Vec<String>,
}

impl Reader<'_> {
    fn step(&mut self, c: char) {
        match c {
            '\n' => {
                self.take(1);
                self.mark(Token::Break);
                self.skip_bodies();
            }
            _ if c.is_whitespace() => {
                self.take(c.len_utf8());
                self.end_word();
            }
            '\'' | '"' => self.quoted(c),
            '\\' => {
                self.take(1);
                // A backslash before a line break joins lines; before anything else it makes that plain.
                if let Some(next) = self.rest.chars().next() {
                    if next != '\n' {
                        self.word.get_or_insert_default().push(next);
                    }
                    self.take(next.len_utf8());
                }
            }
            '#' if self.word.is_none() => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            }
            '>' => self.redirect_out(),
            '<' => self.redirect_in(),
            '&' if self.rest.starts_with("&>") => {
                self.take(1);
                self.end_word();
                self.redirect_out();
            }
            ';' | '|' | '&' | '(' | ')' | '`' => {
                self.take(1);
                self.mark(Token::Break);
            }
            // A command inside `$( )` is a command.
            '$' if self.rest.starts_with("$(") => {
                self.take(2);
                self.mark(Token::Break);
            }
            _ => {
                self.take(c.len_utf8());
                self.word.get_or_insert_default().push(c);
            }
        }
    }

    fn take(&mut self, len: usize) {
        self.rest = &self.rest[len..];
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            self.out.push(Token::Word(word));
        }
    }

    fn mark(&mut self, token: Token) {
        self.end_word();
        self.out.push(token);
    }

    fn quoted(&mut self, quote: char) {
        self.take(1);
        let word = self.word.get_or_insert_default();
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' && quote == '"' {
                escaped = true;
                continue;
            } else if c == quote {
                self.rest = &self.rest[at + 1..];
                return;
            }
            word.push(c);
        }
        self.rest = "";
    }

    fn redirect_out(&mut self) {
        // The number before it names a stream, not a file.
        if self.word.as_ref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit())) {
            self.word = None;
        }
        let operators = [">>", ">|", ">&", ">"];
        let operator = operators.iter().find(|op| self.rest.starts_with(**op)).map_or(1, |op| op.len());
        let duplicates = self.rest.starts_with(">&");
        self.take(operator);
        // `>&2` joins two streams; `>&file` writes one.
        if duplicates && self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(self.rest.len());
            self.take(end);
            self.end_word();
            return;
        }
        self.mark(Token::Into);
    }

    fn redirect_in(&mut self) {
        if self.rest.starts_with("<<<") {
            self.take(3);
            self.mark(Token::From);
        } else if self.rest.starts_with("<<") {
            self.take(2);
            self.end_word();
            self.rest = self.rest.strip_prefix('-').unwrap_or(self.rest).trim_start_matches([' ', '\t']);
            let end = self.rest.find(|c: char| c.is_whitespace() || ";|&<>()".contains(c));
            let delimiter = &self.rest[..end.unwrap_or(self.rest.len())];
            self.bodies.push(delimiter.replace(['\'', '"', '\\'], ""));
            let len = delimiter.len();
            self.take(len);
        } else if self.rest.starts_with("<>") {
            self.take(2);
            self.mark(Token::Into);
        } else {
            self.take(1);
            self.mark(Token::From);
        }
    }

    fn skip_bodies(&mut self) {
        for delimiter in std::mem::take(&mut self.bodies) {
            while !self.rest.is_empty() {
                let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
                let line = self.rest[..end].trim_end_matches('\n').trim_start_matches('\t').to_owned();
                self.take(end);
                if line == delimiter {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(command: &str) -> Vec<String> {
        targets(command, Path::new("/p"))
            .into_iter()
            .map(|t| t.cwd.join(t.path).display().to_string())
            .collect()
    }

    #[test]
    fn redirections_are_seen() {
        for command in [
            "echo x > m/a",
            "echo x>m/a",
            "echo x >> m/a",
            "echo x >| m/a",
            "echo x &> m/a",
            "echo x 2> m/a",
            "echo x >& m/a",
            "cat > \"m/a\" <<'EOF'\n{}\nEOF",
            "cat <<EOF > m/a\n> other\nEOF",
            "true && (echo x > 'm/a')",
            "x=$(echo y > m/a)",
            "cd m && echo x > a",
            "if true; then echo x > m/a; fi",
            "echo x \\\n > m/a",
            "bash -lc 'cd m; echo x > a'",
        ] {
            assert_eq!(written(command), ["/p/m/a"], "{command}");
        }
    }

    #[test]
    fn commands_that_write_are_seen() {
        for command in [
            "tee -a m/a",
            "echo x | sudo -n tee m/a",
            "cp b m/a",
            "cp -t m/a b c",
            "/usr/bin/touch m/a",
            "dd if=x of=m/a",
            "rm -rf m/a",
            "LANG=C rm m/a",
        ] {
            assert_eq!(written(command), ["/p/m/a"], "{command}");
        }
        assert!(written("sed -i s/a/b/ m/a").contains(&"/p/m/a".to_owned()));
        assert!(written("mv m/a b").contains(&"/p/m/a".to_owned()));
    }

    #[test]
    fn reading_and_talking_write_nothing() {
        for command in [
            "cat m/a",
            "grep x < m/a",
            "echo '> m/a'",
            "echo \"> m/a\"",
            "cat <<EOF\necho x > m/a\nEOF",
            "heirloom record write --target m/a",
            "ls m/a 2>&1",
            "# echo x > m/a",
            "sed -n 1p m/a",
            "",
        ] {
            assert_eq!(written(command), [""; 0], "{command}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(command in "[ a-z>&|<'\"\\\\\n$()`;#é0-9-]{0,200}") {
            targets(&command, Path::new("/p"));
        }
    }
}
