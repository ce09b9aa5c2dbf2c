//! What one command does: wrappers are taken off, then the table or a grammar of its own says what is written.
//!
//! Comes in: the fields of a command and its input. Goes out: targets, and what the command prints if that can be told. Never here: a program's
//! name outside of what a shell itself understands; those are data.

use super::Deed;
use super::expand::Field;
use super::programs::{Act, Program, WRAPPERS, rows};
use super::walk::{Input, Walk, plainly};

/// This program.
const PROGRAM: &str = "heirloom";

/// Wrappers around wrappers.
const WRAPPED_MAX: usize = 16;

/// Arguments, with the options taken out.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a> {
    pub(super) plain: Vec<&'a Field>,
    pub(super) options: Vec<(String, Option<Field>)>,
}

impl<'a> Arguments<'a> {
    /// `takes` are the options that have a value of their own.
    pub(super) fn read(args: &'a [Field], takes: &[&str]) -> Arguments<'a> {
        let mut out = Arguments::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.text.as_str();
            if text == "--" {
                out.plain.extend(rest);
                break;
            }
            if text.len() < 2 || !text.starts_with('-') {
                out.plain.push(arg);
            } else if takes.contains(&text) {
                out.options.push((text.to_owned(), rest.next().cloned()));
            } else if text.starts_with("--") {
                let (name, value) =
                    text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
                let value = value.map(|value| Field { text: value.to_owned(), ..arg.clone() });
                out.options.push((name.to_owned(), value));
            } else {
                for (at, letter) in text.char_indices().skip(1) {
                    let name = format!("-{letter}");
                    if takes.contains(&name.as_str()) {
                        let value = &text[at + letter.len_utf8()..];
                        let value = match value.strip_prefix('=').unwrap_or(value) {
                            "" => rest.next().cloned(),
                            value => Some(Field { text: value.to_owned(), ..arg.clone() }),
                        };
                        out.options.push((name, value));
                        break;
                    }
                    out.options.push((name, None));
                }
            }
        }
        out
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    pub(super) fn values<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = &'s Field> + 's {
        let found = self.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
        found.filter_map(|(_, value)| value.as_ref())
    }

    /// The arguments before the last, and the ways the last may read.
    fn split_last(&self) -> (Vec<&'a Field>, Vec<&'a Field>) {
        let Some(end) = self.plain.last() else { return Default::default() };
        let (last, mut before): (Vec<&Field>, Vec<&Field>) =
            self.plain.iter().partition(|field| field.word == end.word && end.word > 0);
        if last.is_empty() {
            before.pop();
            return (before, vec![end]);
        }
        // Of each way the word may read, what comes last counts.
        let mut ways: Vec<&Field> = Vec::new();
        for field in last {
            match ways.iter_mut().find(|way| way.way == field.way) {
                Some(way) => before.push(std::mem::replace(way, field)),
                None => ways.push(field),
            }
        }
        (before, ways)
    }
}

impl Walk<'_> {
    pub(super) fn command(&mut self, fields: &[Field], input: &Input) {
        let mut fields = fields;
        for _ in 0..WRAPPED_MAX {
            match self.unwrapped(fields) {
                Some(inner) => fields = inner,
                None => return self.run(fields, input),
            }
        }
        self.steps.give_up();
    }

    /// What a wrapper runs, if this is one.
    fn unwrapped<'f>(&mut self, fields: &'f [Field]) -> Option<&'f [Field]> {
        let (first, args) = fields.split_first()?;
        let name = base(&first.text);
        let second = args.first().map_or("", |arg| arg.text.as_str());
        let wrapper =
            WRAPPERS.iter().find(|row| row.name == name && (row.then.is_empty() || row.then == second))?;
        let mut at = usize::from(!wrapper.then.is_empty());
        let mut skip = wrapper.skip;
        while let Some(arg) = args.get(at) {
            let text = arg.text.as_str();
            let (option, value) = text.split_once('=').unwrap_or((text, ""));
            if text == "--" {
                at += 1;
                if skip == 0 {
                    break;
                }
            } else if text.starts_with('-') && text.len() > 1 {
                let takes = wrapper.takes.contains(&text);
                let value = if takes { args.get(at + 1).map_or("", |arg| arg.text.as_str()) } else { value };
                if matches!(option, "-C" | "-D" | "--chdir") {
                    self.go(value);
                }
                // `env -S 'a b'`, `flock f -c 'a b'`: the value is a command.
                if matches!(option, "-S" | "--split-string" | "-c") && name != "taskset" && name != "ionice" {
                    let command = args.get(at + 1).map(|arg| arg.written_out()).unwrap_or_default();
                    self.text(&command);
                }
                at += 1 + usize::from(takes);
            } else if matches!(name, "env" | "sudo") && text.contains('=') {
                at += 1;
            } else if skip > 0 {
                skip -= 1;
                at += 1;
            } else {
                break;
            }
        }
        Some(args.get(at..).unwrap_or_default())
    }

    fn run(&mut self, fields: &[Field], input: &Input) {
        let Some((first, args)) = fields.split_first() else { return };
        self.steps.spend(args.len() + 1);
        let name = base(&first.text).to_owned();
        self.moves_home |= name == PROGRAM && self.names_home();
        if self.has_function(&name) {
            return self.call(&name, args);
        }
        if !self.special(&name, first, args, input) {
            self.by_table(&name, args);
            self.prints(&name, args, input);
        }
    }

    /// What the table says a program writes.
    pub(super) fn by_table(&mut self, name: &str, args: &[Field]) {
        let words: Vec<&str> = args.iter().take(4).map(|arg| arg.text.as_str()).collect();
        for (program, words) in rows(name, &words) {
            self.by_row(program, &args[words..]);
        }
    }

    fn by_row(&mut self, program: &Program, args: &[Field]) {
        let mut read = Arguments::read(args, program.takes);
        let without = !program.only_with.is_empty() && !read.has(program.only_with);
        // A row of its own says what happens with the option that this one stays away from.
        if without || !program.unless.is_empty() && read.has(program.unless) {
            return;
        }
        if !program.script.is_empty() && !read.has(program.script) && !read.plain.is_empty() {
            read.plain.remove(0);
        }
        for act in program.acts {
            self.act(*act, &read, args);
        }
    }

    fn act(&mut self, act: Act, read: &Arguments<'_>, args: &[Field]) {
        match act {
            Act::Each => read.plain.iter().for_each(|field| self.hit(field, Deed::Write)),
            Act::Here if read.plain.is_empty() => self.hit(&Field::sure("."), Deed::Write),
            Act::Here => read.plain.iter().for_each(|field| self.hit(field, Deed::Write)),
            Act::After(n) => read.plain.iter().skip(n).for_each(|field| self.hit(field, Deed::Write)),
            Act::Nth(n) => read.plain.iter().skip(n).take(1).for_each(|field| self.hit(field, Deed::Write)),
            Act::Last => read.split_last().1.iter().for_each(|field| self.hit(field, Deed::Write)),
            Act::Value(names) => read.values(names).for_each(|field| self.hit(field, Deed::Write)),
            Act::Keyed(key) => {
                let found = args.iter().filter_map(|arg| Some((arg, arg.text.strip_prefix(key)?)));
                found.for_each(|(arg, path)| {
                    self.hit(&Field { text: path.to_owned(), ..arg.clone() }, Deed::Write)
                });
            }
            Act::Removed => {
                let below = read.has(&["-r", "-R", "--recursive"]);
                let deed = if below { Deed::Remove } else { Deed::Write };
                read.plain.iter().for_each(|field| self.hit(field, deed));
            }
            Act::Moved => {
                let named = read.has(&["-t", "--target-directory"]);
                let gone = if named { read.plain.clone() } else { read.split_last().0 };
                gone.iter().for_each(|field| self.hit(field, Deed::Remove));
            }
            Act::Into => self.into(read, args),
        }
    }

    fn into(&mut self, read: &Arguments<'_>, args: &[Field]) {
        const NAMED: [&str; 2] = ["-t", "--target-directory"];
        let behind =
            args.iter().position(|arg| NAMED.contains(&arg.text.as_str())).and_then(|at| args.get(at + 1));
        let named: Vec<&Field> = read.values(&NAMED).chain(behind).collect();
        let (sources, folders) =
            if named.is_empty() { read.split_last() } else { (read.plain.clone(), named) };
        // A link of a file into elsewhere is a door: what is written there is written here.
        if read.has(&["-l", "--link"]) {
            sources.iter().for_each(|field| self.hit(field, Deed::Write));
        }
        if read.has(&["--remove-source-files"]) {
            sources.iter().for_each(|field| self.hit(field, Deed::Remove));
        }
        let deletes = read.options.iter().any(|(name, _)| name.starts_with("--delete"));
        for folder in folders {
            let elsewhere = folder.text.split('/').next().is_some_and(|host| host.contains(':'));
            if elsewhere {
                continue;
            }
            self.hit(folder, if deletes { Deed::Remove } else { Deed::Write });
            // What ends like a file is no folder to put something into.
            let file = folder.text.ends_with(".json");
            for source in sources.iter().filter(|_| !file) {
                if let Some(name) = name_of(&source.text) {
                    let text = format!("{}/{name}", folder.text);
                    self.hit(&Field { text, ..folder.clone() }, Deed::Write);
                }
            }
        }
    }

    /// What a command prints, if its arguments say so.
    fn prints(&mut self, name: &str, args: &[Field], input: &Input) {
        let read = Arguments::read(args, &[]);
        let joined = |walk: &mut Self, fields: &[&Field]| {
            walk.steps.spend(fields.iter().map(|field| field.text.len() + 1).sum());
            fields
                .iter()
                .filter(|field| !field.guess)
                .map(|field| field.written_out())
                .collect::<Vec<_>>()
                .join(" ")
        };
        self.printed = match name {
            "echo" => {
                let text = args
                    .iter()
                    .skip_while(|arg| matches!(arg.text.as_str(), "-n" | "-e" | "-ne" | "-en" | "-E"));
                let text = joined(self, &text.collect::<Vec<_>>());
                let escapes =
                    args.first().is_some_and(|arg| matches!(arg.text.as_str(), "-e" | "-ne" | "-en"));
                Some(if escapes { super::token::unescaped(&text) } else { text })
            }
            "printf" => Some(printed(args)),
            "pwd" => Some(self.cwds[0].to_string_lossy().into_owned()),
            "dirname" => {
                read.plain.first().map(|path| match path.text.trim_end_matches('/').rsplit_once('/') {
                    Some((folder, _)) => folder.to_owned(),
                    None => ".".to_owned(),
                })
            }
            "basename" => read.plain.first().and_then(|path| name_of(&path.text)).map(str::to_owned),
            "realpath" | "readlink" => read.plain.last().map(|path| path.text.clone()),
            "cat" | "tac" | "nl" => {
                let cwd = self.cwds[0].clone();
                let files = read.plain.iter().map(|field| &field.text).chain(&input.files);
                let known: Vec<&str> = files
                    .filter_map(|file| self.files.get(&plainly(&cwd.join(file))))
                    .map(String::as_str)
                    .collect();
                if known.is_empty() { input.text.clone() } else { Some(known.join("\n")) }
            }
            // What lists files prints them; what it is told to look through stands for all of them.
            "ls" | "fd" | "fdfind" | "rg" | "grep" | "egrep" | "ag" | "ack" | "tree" => {
                let skip = usize::from(!matches!(name, "ls" | "tree"));
                let listed = joined(self, read.plain.get(skip..).unwrap_or_default());
                if listed.is_empty() { input.text.clone() } else { Some(listed) }
            }
            "git"
                if args
                    .first()
                    .is_some_and(|arg| matches!(arg.text.as_str(), "ls-files" | "diff" | "grep")) =>
            {
                Some(joined(self, read.plain.get(1..).unwrap_or_default()))
            }
            "git" if args.iter().any(|arg| arg.text == "--show-toplevel") => {
                Some(self.cwds[0].to_string_lossy().into_owned())
            }
            _ => input.text.clone(),
        };
    }
}

/// What `printf` makes of its format and values, as far as `%s` goes.
fn printed(args: &[Field]) -> String {
    let args: Vec<String> =
        args.iter().filter(|arg| !arg.guess && arg.text != "--").map(Field::written_out).collect();
    let Some((format, values)) = args.split_first() else { return String::new() };
    let format = super::token::unescaped(format);
    let holes = format.matches("%s").count() + format.matches("%b").count();
    let mut out = String::new();
    for chunk in values.chunks(holes.max(1)) {
        let mut values = chunk.iter();
        let mut rest = format.as_str();
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            let kind = rest[at + 1..].chars().next();
            match kind {
                Some('s' | 'b' | 'q' | 'd') => out.push_str(values.next().map_or("", String::as_str)),
                Some('%') => out.push('%'),
                _ => {}
            }
            rest = &rest[at + 1 + kind.map_or(0, char::len_utf8)..];
        }
        out.push_str(rest);
        if holes == 0 {
            break;
        }
    }
    if values.is_empty() {
        out.push_str(&format.replace("%%", "%"));
    }
    out
}

/// The name of a program, without the folder it is in.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The last part of a path, if it has a name.
fn name_of(path: &str) -> Option<&str> {
    let name = path.trim_end_matches('/').rsplit('/').next()?;
    (!matches!(name, "" | "." | "..")).then_some(name)
}
