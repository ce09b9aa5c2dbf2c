//! The walk through a command: folders, variables, functions, links and pipes, in the order a shell would come by them.
//!
//! Comes in: tokens. Goes out: targets in `found`. Where a shell decides by something only it knows, both ways are kept: a `cd` that may fail, an
//! assignment behind `if`. Never here: what a program does with its arguments; that is `run`.

use super::super::pattern::{UNKNOWN, written_out};
use super::expand::Field;
use super::lexer::tokens;
use super::steps::{DEPTH_MAX, Steps};
use super::token::{Break, Part, Token, Word, plain};
use super::{Deed, Target};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Whoever writes more files than this in one command is not writing memories by mistake.
const TARGETS_MAX: usize = 1_000;
/// Longer paths are nobody's.
pub(super) const FOLDER_MAX: usize = 4 << 10;
/// Folders a command may be in at one moment, as far as can be told.
const FOLDERS_MAX: usize = 4;
/// How often a function is followed inside itself.
const RECURSION_MAX: usize = 2;
/// Values a variable may have.
const VALUES_MAX: usize = 64;

/// What a simple command is given besides its words.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// What it reads: a here-document, a string, or what the command before it printed.
    pub(super) text: Option<String>,
    /// Files whose content it reads.
    pub(super) files: Vec<String>,
}

pub(super) struct Walk<'h> {
    pub(super) steps: Steps,
    pub(super) moves_home: bool,
    pub(super) found: HashSet<Target>,
    /// Where the command may be; never empty.
    pub(super) cwds: Vec<PathBuf>,
    start: PathBuf,
    before: Vec<PathBuf>,
    pub(super) pushed: Vec<Vec<PathBuf>>,
    home: Option<&'h Path>,
    variables: HashMap<String, Vec<String>>,
    lists: HashMap<String, Vec<String>>,
    functions: HashMap<String, Rc<[Token]>>,
    /// The functions that are being run, outermost first.
    calling: Vec<String>,
    pub(super) positional: Vec<String>,
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Files this command has written, as far as their text is known.
    pub(super) files: HashMap<PathBuf, String>,
    /// What the last command printed, if that can be told.
    pub(super) printed: Option<String>,
    depth: usize,
    /// Inside `if`, `while`, `case`, or behind `&&`.
    conditional: usize,
}

impl<'h> Walk<'h> {
    pub(super) fn new(cwd: &Path, home: Option<&'h Path>) -> Walk<'h> {
        Walk {
            steps: Steps::new(),
            moves_home: false,
            found: HashSet::new(),
            cwds: vec![cwd.to_owned()],
            start: cwd.to_owned(),
            before: vec![cwd.to_owned()],
            pushed: Vec::new(),
            home,
            variables: HashMap::new(),
            lists: HashMap::new(),
            functions: HashMap::new(),
            calling: Vec::new(),
            positional: Vec::new(),
            links: Vec::new(),
            files: HashMap::new(),
            printed: None,
            depth: 0,
            conditional: 0,
        }
    }

    /// A text that is run as a command.
    pub(super) fn text(&mut self, command: &str) {
        if self.depth >= DEPTH_MAX || !self.steps.spend(command.len()) {
            return self.steps.give_up();
        }
        let tokens = tokens(command, &mut self.steps);
        self.depth += 1;
        self.tokens(&tokens);
        self.depth -= 1;
    }

    /// Does something in a shell of its own: folders and arguments are as before afterwards.
    pub(super) fn aside<T: Default>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let copied = self.positional.len() + self.pushed.len() + self.cwds.len();
        if self.depth >= DEPTH_MAX || !self.steps.spend(copied) {
            self.steps.give_up();
            return T::default();
        }
        let (cwds, pushed, positional) = (self.cwds.clone(), self.pushed.clone(), self.positional.clone());
        let printed = self.printed.take();
        self.depth += 1;
        let out = act(self);
        self.depth -= 1;
        (self.cwds, self.pushed, self.positional, self.printed) = (cwds, pushed, positional, printed);
        out
    }

    pub(super) fn output_of(&mut self, tokens: &[Token]) -> Option<String> {
        self.printed = None;
        self.tokens(tokens);
        self.printed.take()
    }

    pub(super) fn home(&self) -> Option<String> {
        self.home.map(|home| home.to_string_lossy().into_owned())
    }

    /// Folders the command may be in, as text.
    fn here(&self) -> Vec<String> {
        self.cwds.iter().map(|cwd| cwd.to_string_lossy().into_owned()).collect()
    }

    /// Whether this command says where the user's settings and data are.
    pub(super) fn names_home(&self) -> bool {
        const NAMES: [&str; 3] = ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];
        NAMES.iter().any(|name| self.variables.contains_key(*name))
    }

    /// What a variable may hold; `None` if nothing here says so.
    pub(super) fn known(&self, name: &str, index: Option<&str>) -> Option<Vec<String>> {
        if let Some(index) = index {
            let list = self.lists.get(name)?;
            return match index.parse::<usize>() {
                Ok(at) => list.get(at).map(|one| vec![one.clone()]),
                Err(_) => Some(list.clone()),
            };
        }
        if let Some(values) = self.variables.get(name) {
            return Some(values.clone());
        }
        match name {
            "HOME" => Some(vec![self.home()?]),
            "XDG_DATA_HOME" => Some(vec![format!("{}/.local/share", self.home()?)]),
            "XDG_CONFIG_HOME" => Some(vec![format!("{}/.config", self.home()?)]),
            "PWD" => Some(self.here()),
            "OLDPWD" => Some(self.before.iter().map(|cwd| cwd.to_string_lossy().into_owned()).collect()),
            "CLAUDE_PROJECT_DIR" | "GEMINI_PROJECT_DIR" | "GEMINI_CWD" => {
                Some(vec![self.start.to_string_lossy().into_owned()])
            }
            // Each is a field; which of them counts is not known, so any may.
            "@" | "*" if self.positional.len() > 1 => Some(self.positional[1..].to_vec()),
            "IFS" => Some(vec![" ".to_owned()]),
            _ => match name.parse::<usize>() {
                Ok(at) => self.positional.get(at).map(|one| vec![one.clone()]),
                Err(_) => self.lists.get(name)?.first().map(|one| vec![one.clone()]),
            },
        }
    }

    /// A variable holds something from now on, or may hold it besides what it held.
    pub(super) fn assign(&mut self, name: &str, values: Vec<String>, adds: bool) {
        let values: Vec<String> = values.into_iter().map(|value| written_out(&value)).collect();
        self.steps.spend(values.iter().map(String::len).sum::<usize>() + 1);
        let held = self.variables.entry(name.to_owned()).or_default();
        if adds {
            let ends: Vec<String> = if held.is_empty() { vec![String::new()] } else { std::mem::take(held) };
            let joined = ends.iter().flat_map(|end| values.iter().map(move |value| format!("{end}{value}")));
            *held = joined.take(VALUES_MAX + 1).collect();
            self.steps.spend(held.iter().map(String::len).sum());
        } else if self.conditional > 0 {
            held.extend(values);
            held.dedup();
        } else {
            *held = values;
        }
        if held.len() > VALUES_MAX {
            self.steps.give_up();
        }
    }

    /// A path is changed, seen from wherever the command may be and through the links it made.
    pub(super) fn hit(&mut self, field: &Field, deed: Deed) {
        let deed = if field.guess { Deed::Write } else { deed };
        let path = field.text.as_str();
        if path.is_empty() || path == "/dev/null" || field.guess && path == "/" {
            return;
        }
        let mut paths = vec![path.to_owned()];
        // A folder nobody knows may well be the one the command starts in.
        if let Some(rest) = path.strip_prefix(UNKNOWN).filter(|rest| rest.starts_with('/')) {
            paths.push(format!("{}{rest}", self.start.display()));
        }
        for cwd in self.cwds.clone() {
            for path in &paths {
                if !self.steps.spend(path.len() + cwd.as_os_str().len()) {
                    return;
                }
                let absolute = plainly(&cwd.join(path));
                let through: Vec<PathBuf> = self
                    .links
                    .iter()
                    .filter_map(|(link, to)| Some(to.join(absolute.strip_prefix(link).ok()?)))
                    .collect();
                self.found.insert(Target { path: path.clone(), cwd: cwd.clone(), deed });
                for path in through {
                    let path = path.to_string_lossy().into_owned();
                    self.found.insert(Target { path, cwd: cwd.clone(), deed });
                }
            }
        }
        if self.found.len() > TARGETS_MAX {
            self.steps.give_up();
        }
    }

    /// `cd`, as far as it can be followed. A folder that is not there may be made by then, or the `cd` may fail.
    pub(super) fn go(&mut self, folder: &str) {
        let mut next: Vec<PathBuf> = Vec::new();
        for cwd in &self.cwds {
            // A look at the disk is worth some steps.
            self.steps.spend(cwd.as_os_str().len() + folder.len() + 64);
            let there = plainly(&cwd.join(folder));
            if there.as_os_str().len() > FOLDER_MAX {
                continue;
            }
            let linked =
                self.links.iter().find_map(|(link, to)| Some(to.join(there.strip_prefix(link).ok()?)));
            // Whoever is in a folder gets to the ones above it.
            let stays = folder.contains(UNKNOWN) || !cwd.starts_with(&there) && !there.is_dir();
            next.push(linked.unwrap_or(there));
            if stays && !next.contains(cwd) {
                next.push(cwd.clone());
            }
        }
        next.dedup();
        next.truncate(FOLDERS_MAX);
        if !next.is_empty() {
            self.before = std::mem::replace(&mut self.cwds, next);
        }
    }

    /// `cd -`.
    pub(super) fn go_back(&mut self) {
        std::mem::swap(&mut self.before, &mut self.cwds);
    }

    /// Another name for a command: a function that hands its arguments on.
    pub(super) fn also_called(&mut self, name: &str, command: &str) {
        let body = tokens(&format!("{command} \"$@\""), &mut self.steps);
        self.functions.insert(name.to_owned(), body.into());
    }

    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// A function of this command is called.
    pub(super) fn call(&mut self, name: &str, arguments: &[Field]) {
        let Some(body) = self.functions.get(name).cloned() else { return };
        // One that calls itself, twice over even, is nothing more to see.
        let open = self.calling.iter().filter(|open| *open == name).count();
        if self.depth >= DEPTH_MAX || open >= RECURSION_MAX {
            return;
        }
        let given = [name.to_owned()].into_iter().chain(arguments.iter().map(|field| field.text.clone()));
        let before = std::mem::replace(&mut self.positional, given.collect());
        self.calling.push(name.to_owned());
        self.depth += 1;
        self.tokens(&body);
        self.depth -= 1;
        self.calling.pop();
        self.positional = before;
    }

    fn tokens(&mut self, tokens: &[Token]) {
        let mut saved: Vec<Vec<PathBuf>> = Vec::new();
        let mut piped: Option<String> = None;
        let (mut at, conditional) = (0, self.conditional);
        let mut maybe = false;
        while at < tokens.len() {
            if !self.steps.spend(1) {
                break;
            }
            if let Some((name, body)) = function(&tokens[at..]) {
                let end = self.end_of_body(tokens, at + body);
                let body: Rc<[Token]> = tokens[at + body..end].into();
                self.functions.insert(name, body.clone());
                self.aside(|walk| walk.tokens(&body));
                at = end;
                continue;
            }
            let len = tokens[at..].iter().position(|token| matches!(token, Token::Break(_)));
            let end = len.map_or(tokens.len(), |len| at + len);
            if end > at {
                self.conditional += usize::from(maybe);
                self.simple(&tokens[at..end], piped.take());
                self.conditional -= usize::from(maybe).min(self.conditional);
            }
            maybe = false;
            match tokens.get(end) {
                Some(Token::Break(Break::Pipe)) => piped = self.printed.clone(),
                Some(Token::Break(Break::Maybe)) => maybe = true,
                Some(Token::Break(Break::Open)) => {
                    if saved.len() >= DEPTH_MAX {
                        self.steps.give_up();
                    }
                    saved.push(self.cwds.clone());
                }
                Some(Token::Break(Break::Close)) => {
                    if let Some(cwds) = saved.pop() {
                        self.cwds = cwds;
                    }
                    // What a group printed goes on into the pipe behind it.
                    if let Some(Token::Break(Break::Pipe)) = tokens.get(end + 1) {
                        piped = self.printed.clone();
                        at = end + 2;
                        continue;
                    }
                }
                _ => {}
            }
            at = end + 1;
        }
        self.conditional = conditional;
    }

    /// Where the `}` or `)` that ends a function's body stands.
    fn end_of_body(&mut self, tokens: &[Token], from: usize) -> usize {
        let mut depth = 0usize;
        for (at, token) in tokens.iter().enumerate().skip(from) {
            self.steps.spend(1);
            match token {
                Token::Word(word) if plain(word) == Some("{") => depth += 1,
                Token::Break(Break::Open) => depth += 1,
                Token::Word(word) if plain(word) == Some("}") => depth = depth.saturating_sub(1),
                Token::Break(Break::Close) => depth = depth.saturating_sub(1),
                _ => continue,
            }
            if depth == 0 {
                return at + 1;
            }
        }
        tokens.len()
    }

    /// A command up to the next operator.
    fn simple(&mut self, tokens: &[Token], piped: Option<String>) {
        let mut words: Vec<&Word> = Vec::new();
        let mut into: Vec<&Word> = Vec::new();
        self.steps.spend(piped.as_ref().map_or(0, String::len));
        let mut input = Input { text: piped, files: Vec::new() };
        let mut rest = tokens.iter();
        while let Some(token) = rest.next() {
            match token {
                Token::Word(word) => words.push(word),
                Token::Here(body) => {
                    let body = body.get().cloned().unwrap_or_default();
                    input.text = Some(self.value(&body).join("\n"));
                }
                Token::Into | Token::From | Token::Given => {
                    let Some(Token::Word(word)) = rest.next() else { continue };
                    match token {
                        Token::Into => into.push(word),
                        Token::Given => input.text = Some(self.value(word).join("\n")),
                        // `< <(command)`: what that command prints is the input.
                        Token::From if matches!(word.as_slice(), [Part::Process(_)]) => {
                            if let [Part::Process(tokens)] = word.as_slice() {
                                input.text = self.aside(|walk| walk.output_of(tokens));
                            }
                        }
                        _ => input.files.extend(self.value(word)),
                    }
                }
                Token::Break(_) => {}
            }
        }
        let words = self.keywords(words);
        // `[[ a > b ]]` compares.
        if words.first().is_some_and(|word| plain(word) == Some("[[")) {
            return;
        }
        let fields = self.arguments(words);
        let mut written: Vec<Field> = Vec::new();
        for word in into {
            written.extend(self.fields(word));
        }
        for field in &written {
            self.hit(field, Deed::Write);
        }
        self.printed = None;
        self.command(&fields, &input);
        if let (Some(text), [file]) = (&self.printed, written.as_slice())
            && text.len() < FOLDER_MAX * 4
        {
            let path = plainly(&self.cwds[0].join(&file.text));
            let text = text.clone();
            self.files.insert(path, text);
            self.printed = None;
        }
    }

    /// Without the words before the command itself. `for` gives its variable all its values.
    fn keywords<'w>(&mut self, words: Vec<&'w Word>) -> Vec<&'w Word> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            match plain(word) {
                Some("then" | "do" | "else" | "!" | "{" | "time" | "coproc") => {}
                Some("if" | "while" | "until" | "elif") => self.conditional += 1,
                Some("}" | "fi" | "done" | "esac") => self.conditional = self.conditional.saturating_sub(1),
                Some("case") => {
                    self.conditional += 1;
                    return Vec::new();
                }
                Some("for" | "select") => {
                    let name = words.get(at + 1).and_then(|word| plain(word)).unwrap_or_default();
                    let mut values = Vec::new();
                    for word in words.iter().skip(at + 3) {
                        values.extend(self.fields(word).into_iter().map(|field| field.written_out()));
                    }
                    if values.len() > VALUES_MAX {
                        // So many are hardly all folders; those that can be paths into one are.
                        values.retain(|value| value.contains('/'));
                    }
                    self.assign(name, values, false);
                    self.conditional += 1;
                    return Vec::new();
                }
                _ => break,
            }
            at += 1;
        }
        words[at..].to_vec()
    }

    /// The fields of a command; assignments before it are made.
    fn arguments(&mut self, words: Vec<&Word>) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        for (at, word) in words.into_iter().enumerate() {
            let declares = fields.first().is_some_and(|first| {
                matches!(
                    first.text.as_str(),
                    "export" | "declare" | "local" | "readonly" | "typeset" | "env" | "sudo"
                )
            });
            if (fields.is_empty() || declares)
                && let Some((name, adds, value)) = assignment(word)
            {
                match value.as_slice() {
                    [Part::List(words)] => {
                        let mut list = Vec::new();
                        for word in words {
                            list.extend(self.fields(word).into_iter().map(|field| field.text));
                        }
                        self.lists.insert(name, list);
                    }
                    value => {
                        let values = self.value(&value.to_vec());
                        self.assign(&name, values, adds);
                    }
                }
                continue;
            }
            fields.extend(self.fields(word).into_iter().map(|field| Field { word: at, ..field }));
        }
        fields
    }
}

/// `name=…` or `name+=…`.
fn assignment(word: &Word) -> Option<(String, bool, Word)> {
    let (Part::Text { text, quoted: false }, rest) = word.split_first()? else { return None };
    let (name, value) = text.split_once('=')?;
    let (name, adds) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() || !name.bytes().all(is_name) {
        return None;
    }
    let mut parts = Word::new();
    if !value.is_empty() {
        parts.push(Part::Text { text: value.to_owned(), quoted: false });
    }
    parts.extend_from_slice(rest);
    Some((name.to_owned(), adds, parts))
}

/// Whether a function is defined here: its name, and how far on its body begins.
fn function(tokens: &[Token]) -> Option<(String, usize)> {
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) => plain(word),
        _ => None,
    };
    let is = |at: usize, kind: Break| matches!(tokens.get(at), Some(Token::Break(found)) if *found == kind);
    let first = word(0)?;
    let (name, mut at) = if first == "function" { (word(1)?, 2) } else { (first, 1) };
    let brackets = is(at, Break::Open) && is(at + 1, Break::Close);
    if !brackets && first != "function" {
        return None;
    }
    at += if brackets { 2 } else { 0 };
    while is(at, Break::End) {
        at += 1;
    }
    (word(at) == Some("{") || is(at, Break::Open)).then(|| (name.to_owned(), at))
}

/// The path with `.` and `..` taken out, links left alone.
pub(super) fn plainly(path: &Path) -> PathBuf {
    super::super::place::plain(path)
}
