//! Commands with a grammar of their own: those a shell runs itself, those that run others, and those whose input says what they write.
//!
//! Comes in: a command by its name. Goes out: whether it was one of these, and its targets. Never here: rows of the table.

use super::Deed;
use super::embedded;
use super::expand::Field;
use super::run::{Arguments, base};
use super::walk::{Input, Walk, plainly};

/// Links one command may make.
const LINKS_MAX: usize = 32;

impl Walk<'_> {
    /// Runs a command that is none of the table's; `false` if it is.
    pub(super) fn special(&mut self, name: &str, first: &Field, args: &[Field], input: &Input) -> bool {
        match name {
            "cd" | "chdir" | "pushd" | "popd" => self.change_folder(name, args),
            "eval" => {
                let text: Vec<String> =
                    args.iter().filter(|arg| !arg.guess).map(Field::written_out).collect();
                self.text(&text.join(" "));
            }
            "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" | "su" => {
                self.shell(name, args, input)
            }
            "source" | "." => self.file(args, input),
            "trap" => self.text(&args.first().map(Field::written_out).unwrap_or_default()),
            "nix-shell" | "nix" | "runuser" | "script" | "sg" => {
                let read = Arguments::read(args, &["--run", "--command", "-c"]);
                let commands: Vec<String> =
                    read.values(&["--run", "--command", "-c"]).map(Field::written_out).collect();
                commands.iter().for_each(|command| self.text(command));
                self.by_table(name, args);
            }
            "set" => {
                let given = args.iter().skip_while(|arg| arg.text.starts_with('-'));
                let given = given.map(|arg| arg.text.clone());
                self.positional = ["sh".to_owned()].into_iter().chain(given).collect();
            }
            "read" | "mapfile" | "readarray" => {
                let names = args.iter().filter(|arg| !arg.text.starts_with('-'));
                for (name, value) in names.zip(input.text.as_deref().unwrap_or_default().split_whitespace()) {
                    self.assign(&name.text, vec![value.to_owned()], false);
                }
            }
            "printf" if args.first().is_some_and(|arg| arg.text == "-v") => {
                let Some(name) = args.get(1) else { return true };
                self.command(&[&[Field::sure("printf")], &args[2..]].concat(), input);
                let value = self.printed.take().unwrap_or_default();
                self.assign(&name.text, vec![value], false);
            }
            "alias" => {
                for (name, command) in args.iter().filter_map(|arg| arg.text.split_once('=')) {
                    // `alias rm='rm -i'` would only call itself.
                    if command.split_whitespace().next() != Some(name) {
                        self.also_called(name, command);
                    }
                }
            }
            "xargs" | "parallel" => self.xargs(args, input),
            "find" | "gfind" => self.find(args),
            "fd" | "fdfind" => return self.fd(args),
            "git" => return self.git(args, input),
            "tar" | "bsdtar" | "gtar" => self.tar(args),
            "ln" | "gln" => self.link(args),
            "patch" | "apply_patch" | "applypatch" => {
                self.by_table(name, args);
                self.patched(args, input);
            }
            _ => return self.interpreter(name, first, args, input),
        }
        true
    }

    fn change_folder(&mut self, name: &str, args: &[Field]) {
        let folder = args.iter().find(|arg| !arg.text.starts_with('-') || arg.text == "-");
        match (name, folder.map(|folder| folder.text.as_str())) {
            ("popd", _) => {
                if let Some(folders) = self.pushed.pop() {
                    self.cwds = folders;
                }
            }
            ("pushd", None | Some("-")) => {}
            ("pushd", Some(folder)) => {
                self.pushed.push(self.cwds.clone());
                self.steps.spend(folder.len());
                self.go(&super::super::pattern::written_out(folder));
                self.go_by_pattern(folder);
            }
            (_, Some("-")) => self.go_back(),
            (_, Some(folder)) => {
                let folder = folder.to_owned();
                self.go(&folder);
            }
            (_, None) => {
                if let Some(home) = self.home() {
                    self.go(&home);
                }
            }
        }
    }

    /// A pattern stays one: what is below it is matched as a whole.
    fn go_by_pattern(&mut self, folder: &str) {
        if super::super::pattern::is_pattern(folder) {
            self.go_back();
            self.go(folder);
        }
    }

    /// A shell: its script is an argument, its input, or a file this command wrote.
    fn shell(&mut self, name: &str, args: &[Field], input: &Input) {
        let at = args.iter().position(|arg| {
            arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('c')
        });
        let at = at.or_else(|| args.iter().position(|arg| arg.text == "--command"));
        if let Some(script) = at.and_then(|at| {
            args[at + 1..].iter().position(|arg| !arg.text.starts_with('-')).map(|next| at + 1 + next)
        }) {
            let given: Vec<String> = args[script + 1..].iter().map(|arg| arg.text.clone()).collect();
            let text = args[script].written_out();
            return self.aside(|walk| {
                walk.positional = given;
                walk.text(&text);
            });
        }
        let mut plain =
            args.iter().filter(|arg| !arg.text.starts_with('-') && !arg.text.starts_with('+')).peekable();
        if name == "su"
            || plain.peek().is_none()
            || args.iter().any(|arg| arg.text == "-s" || arg.text == "/dev/stdin")
        {
            let text = self.input_text(input);
            return self.aside(|walk| walk.text(&text));
        }
        let rest: Vec<Field> = plain.cloned().collect();
        self.aside(|walk| walk.file(&rest, input));
    }

    /// All that a command is given to read, as far as it is known.
    pub(super) fn input_text(&self, input: &Input) -> String {
        let files = input.files.iter().filter_map(|file| self.files.get(&plainly(&self.cwds[0].join(file))));
        files.chain(&input.text).map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// A file that is run by a shell.
    fn file(&mut self, args: &[Field], input: &Input) {
        let Some((file, rest)) = args.split_first() else { return };
        let text = match file.text.as_str() {
            "/dev/stdin" | "-" => Some(self.input_text(input)),
            path => self.files.get(&plainly(&self.cwds[0].join(path))).cloned(),
        };
        if let Some(text) = text {
            let given = [file].into_iter().chain(rest).map(|arg| arg.text.clone());
            self.positional = given.collect();
            self.text(&text);
        }
    }

    /// Another language: a script on the command line, as input, or in a file this command wrote.
    fn interpreter(&mut self, name: &str, first: &Field, args: &[Field], input: &Input) -> bool {
        let Some(language) = embedded::language_of(name) else {
            // A script of this command, started by its own name.
            if first.text.contains('/') && self.files.contains_key(&plainly(&self.cwds[0].join(&first.text)))
            {
                let all: Vec<Field> = [first].into_iter().chain(args).cloned().collect();
                self.aside(|walk| walk.file(&all, input));
                return true;
            }
            return false;
        };
        let read = Arguments::read(args, language.takes);
        let mut scripts: Vec<String> = read.values(language.scripts).map(Field::written_out).collect();
        let mut files = read.plain.as_slice();
        let mut others: Vec<&Field> = files.to_vec();
        if let Some(at) = language.script_at.filter(|_| scripts.is_empty() && !read.has(&["-f", "--file"])) {
            match at < others.len() {
                true => scripts.push(others.remove(at).written_out()),
                false => scripts.push(self.input_text(input)),
            }
            files = &others;
        }
        if files.first().is_some_and(|first| first.text == "eval") {
            scripts.extend(files.get(1).map(|script| script.written_out()));
        }
        if scripts.is_empty() {
            match files.first().map(|file| file.text.as_str()) {
                None | Some("-" | "/dev/stdin") => scripts.push(self.input_text(input)),
                Some(path) => scripts.extend(self.files.get(&plainly(&self.cwds[0].join(path))).cloned()),
            }
        }
        let in_place = read.has(language.in_place)
            || read.values(&["-i", "--include"]).any(|value| value.text == "inplace");
        if in_place {
            files.iter().for_each(|file| self.hit(file, Deed::Write));
        }
        for script in scripts {
            self.steps.spend(script.len() * 2);
            let seen = embedded::look(language, &script, files);
            // A whole file may be named as an argument and written by a script that opens its arguments.
            if seen.writes_arguments {
                files.iter().for_each(|file| self.hit(file, Deed::Write));
            }
            for path in seen.paths {
                self.hit(&Field::sure(path), Deed::Write);
            }
            for command in seen.commands {
                self.aside(|walk| walk.text(&command));
            }
        }
        if language.passes_on {
            self.by_table(name, args);
            self.printed = input.text.clone();
        }
        true
    }

    fn git(&mut self, args: &[Field], input: &Input) -> bool {
        let mut at = 0;
        let mut folders = Vec::new();
        while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
            let value = args.get(at + 1).map_or("", |arg| arg.text.as_str());
            match arg.text.as_str() {
                "-C" | "--work-tree" => folders.push(value.to_owned()),
                text => folders.extend(text.strip_prefix("--work-tree=").map(str::to_owned)),
            }
            at += 1 + usize::from(matches!(arg.text.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree"));
        }
        let rest = args.get(at..).unwrap_or_default();
        let first = rest.first().map_or("", |arg| arg.text.as_str());
        self.aside(|walk| {
            folders.iter().for_each(|folder| walk.go(folder));
            walk.by_table("git", rest);
            if matches!(first, "apply" | "am")
                && !rest.iter().any(|arg| arg.text == "--check" || arg.text == "--stat")
            {
                walk.patched(rest, input);
            }
        });
        // Whatever it prints is for the rest to say.
        !matches!(first, "ls-files" | "diff" | "grep" | "rev-parse")
    }

    fn tar(&mut self, args: &[Field]) {
        const FOLDER: [&str; 2] = ["-C", "--directory"];
        let mut args = args.to_vec();
        // The old way: letters without a dash.
        if let Some(first) =
            args.first_mut().filter(|first| first.text.bytes().all(|b| b.is_ascii_alphabetic()))
        {
            first.text.insert(0, '-');
        }
        let read =
            Arguments::read(&args, &["-C", "--directory", "-f", "--file", "-T", "-X", "--exclude", "-I"]);
        if read.has(&["-x", "--extract", "--get"]) {
            read.values(&FOLDER).for_each(|folder| self.hit(folder, Deed::Write));
            read.plain.iter().for_each(|member| self.hit(member, Deed::Write));
        }
        if read.has(&["-c", "-r", "-u", "--create", "--append", "--update"]) {
            read.values(&["-f", "--file"]).for_each(|file| self.hit(file, Deed::Write));
        }
        if read.has(&["--remove-files"]) {
            read.plain.iter().for_each(|file| self.hit(file, Deed::Remove));
        }
    }

    /// A link: what is written through it later in the command is written there.
    fn link(&mut self, args: &[Field]) {
        let read = Arguments::read(args, &["-t", "--target-directory", "-S"]);
        let mut plain = read.plain.clone();
        let named: Option<&Field> = read.values(&["-t", "--target-directory"]).next();
        let place = match named {
            Some(folder) => folder.text.clone(),
            None if plain.len() > 1 => plain.pop().map(|last| last.text.clone()).unwrap_or_default(),
            None => ".".to_owned(),
        };
        self.hit(&Field::sure(place.clone()), Deed::Write);
        let symbolic = read.has(&["-s", "--symbolic"]);
        for source in plain {
            let name = base(source.text.trim_end_matches('/'));
            self.hit(&Field::sure(format!("{place}/{name}")), Deed::Write);
            if !symbolic {
                // A second name for a file is a door into it that nobody can tell later.
                self.hit(source, Deed::Write);
            }
            for cwd in self.cwds.clone() {
                if self.links.len() >= LINKS_MAX {
                    return self.steps.give_up();
                }
                let link = plainly(&cwd.join(&place));
                let inside = link.join(name);
                let from = link.parent().map_or_else(|| cwd.clone(), ToOwned::to_owned);
                // It leads from where it lies, or, if the place is a folder, from in there.
                self.links.push((link.clone(), plainly(&from.join(&source.text))));
                self.links.push((inside, plainly(&link.join(&source.text))));
            }
        }
    }

    /// The files a patch names, if its text is known.
    fn patched(&mut self, args: &[Field], input: &Input) {
        const HEADS: [&str; 8] = [
            "+++ ",
            "--- ",
            "rename to ",
            "rename from ",
            "*** Add File: ",
            "*** Update File: ",
            "*** Delete File: ",
            "*** Move to: ",
        ];
        let mut text = self.input_text(input);
        for arg in args {
            if let Some(known) = self.files.get(&plainly(&self.cwds[0].join(&arg.text))) {
                text.push_str(known);
            }
            if arg.text.contains("*** Begin Patch") {
                text.push_str(&arg.text);
            }
        }
        self.steps.spend(text.len());
        for line in text.lines() {
            let Some(path) = HEADS.iter().find_map(|head| line.trim_start().strip_prefix(head)) else {
                continue;
            };
            let path = path.split('\t').next().unwrap_or_default().trim();
            let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
            self.hit(&Field::sure(path), Deed::Write);
        }
    }
}
