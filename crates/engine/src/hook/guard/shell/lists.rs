//! Commands that run others for a list of files: `find`, `fd`, `xargs`, `parallel`.
//!
//! Comes in: their arguments and input. Goes out: the targets of what they run, once for each place that is known. Never here: a look at which
//! files there are; the place that is looked through stands for all of them.

use super::super::pattern::activated;
use super::Deed;
use super::expand::Field;
use super::walk::{Input, Walk, plainly};

/// Lines of a list that are run one by one.
const LINES_MAX: usize = 64;

impl Walk<'_> {
    /// A command for what the one before it printed.
    pub(super) fn xargs(&mut self, args: &[Field], input: &Input) {
        const TAKES: [&str; 13] = [
            "-I",
            "-i",
            "-n",
            "-L",
            "-P",
            "-d",
            "-s",
            "-E",
            "-a",
            "-j",
            "--max-args",
            "--max-procs",
            "--replace",
        ];
        let mut at = 0;
        let mut hole: Option<String> = None;
        let mut listed = self.input_text(input);
        while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
            let takes = TAKES.contains(&arg.text.as_str()) && arg.text != "-i";
            let value = args.get(at + 1).map_or("", |arg| arg.text.as_str());
            match arg.text.as_str() {
                "-I" | "--replace" => hole = Some(value.to_owned()),
                "-i" => hole = Some("{}".to_owned()),
                "-a" => {
                    listed = self.files.get(&plainly(&self.cwds[0].join(value))).cloned().unwrap_or_default()
                }
                text if text.starts_with("-I") => hole = Some(text[2..].to_owned()),
                _ => {}
            }
            at += 1 + usize::from(takes);
        }
        let rest = args.get(at..).unwrap_or_default();
        // `parallel` takes its list behind `:::`.
        let (command, list) = match rest.iter().position(|arg| arg.text == ":::") {
            Some(at) => (&rest[..at], rest[at + 1..].iter().map(|arg| arg.text.clone()).collect()),
            None => (
                rest,
                listed
                    .split(['\n', ' ', '\t', '\0'])
                    .filter(|one| !one.is_empty())
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            ),
        };
        let word = |at: usize, text: String| Field { word: at + 1, ..Field::sure(text) };
        let hole =
            hole.or_else(|| command.iter().any(|arg| arg.text.contains("{}")).then(|| "{}".to_owned()));
        if list.len() > LINES_MAX * 4 {
            self.steps.give_up();
        }
        match hole {
            Some(hole) if !hole.is_empty() => {
                for one in list.iter().take(LINES_MAX * 4) {
                    let put = |(at, arg): (usize, &Field)| word(at, arg.text.replace(&hole, one));
                    let fields: Vec<Field> = command.iter().enumerate().map(put).collect();
                    self.aside(|walk| walk.command(&fields, &Input::default()));
                }
                if list.is_empty() {
                    self.aside(|walk| walk.command(command, &Input::default()));
                }
            }
            _ => {
                self.steps.spend(listed.len());
                let listed = list
                    .into_iter()
                    .take(LINES_MAX * 4)
                    .enumerate()
                    .map(|(at, one)| word(command.len() + at, one));
                let fields: Vec<Field> = command.iter().cloned().chain(listed).collect();
                self.aside(|walk| walk.command(&fields, &Input::default()));
            }
        }
    }

    /// `find`: what it looks through goes into the commands it runs. It prints the same.
    pub(super) fn find(&mut self, args: &[Field]) {
        let is_test =
            |arg: &&Field| arg.text.starts_with(['-', '(', '!']) && arg.text != "-L" && arg.text != "-H";
        let at = args.iter().position(|arg| is_test(&arg)).unwrap_or(args.len());
        let mut places: Vec<Field> =
            args[..at].iter().filter(|arg| !arg.text.starts_with('-')).cloned().collect();
        if places.is_empty() {
            places.push(Field::sure("."));
        }
        if places.len() > LINES_MAX {
            places.truncate(LINES_MAX);
            self.steps.give_up();
        }
        // A test that names the folder makes it a place of its own, wherever the search begins.
        let (mut named, mut kept) = (false, false);
        let mut rest = args[at..].iter();
        let mut more: Vec<Field> = Vec::new();
        while let Some(arg) = rest.next() {
            let pattern = match arg.text.as_str() {
                "-path" | "-wholename" | "-ipath" | "-name" | "-iname" | "-regex" => rest.next(),
                "!" | "-not" => {
                    rest.nth(1);
                    continue;
                }
                _ => continue,
            };
            named = true;
            let Some(pattern) = pattern.map(|pattern| pattern.written_out()) else { continue };
            let pattern =
                if arg.text == "-regex" { pattern.replace(".*", "*").replace('\\', "") } else { pattern };
            let pattern = pattern.trim_end_matches("/*").trim_start_matches("*/").trim_start_matches("./");
            // Every file of a kind that memories are kept in: what lies right below such a place goes with it.
            kept |= ["*.json", "*.jsonl", "*.md"].contains(&pattern);
            let names = pattern.contains(|c: char| c.is_alphanumeric()) && !pattern.contains("*.");
            if names && more.len() < LINES_MAX * 4 {
                for place in &places {
                    more.push(Field::sure(format!("{}/{}", place.text, activated(pattern))));
                }
            }
        }
        // Whatever lies right below goes with it.
        if !named || kept {
            more.extend(places.iter().map(|place| Field::sure(format!("{}/{}", place.text, activated("*")))));
            more.retain(|field| !is_whole(&field.text));
        }
        let all: Vec<Field> = places.into_iter().chain(more).collect();
        let mut at = at;
        while let Some(arg) = args.get(at) {
            match arg.text.as_str() {
                "-delete" => all.iter().for_each(|place| self.hit(place, Deed::Write)),
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                    args.get(at + 1).into_iter().for_each(|file| self.hit(file, Deed::Write));
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let end = args[at..].iter().position(|arg| arg.text == ";" || arg.text == "+");
                    let end = end.map_or(args.len(), |len| at + len);
                    for place in all.iter().take(LINES_MAX) {
                        let put = |(at, arg): (usize, &Field)| Field {
                            text: arg.text.replace("{}", &place.text),
                            word: at,
                            ..arg.clone()
                        };
                        let fields: Vec<Field> = args[at + 1..end].iter().enumerate().map(put).collect();
                        // What is above the folder was not named: only what is in it counts.
                        self.aside(|walk| {
                            walk.command(
                                &fields
                                    .into_iter()
                                    .map(|field| Field { guess: true, ..field })
                                    .collect::<Vec<_>>(),
                                &Input::default(),
                            )
                        });
                    }
                    at = end;
                }
                _ => {}
            }
            at += 1;
        }
        self.printed = Some(
            all.iter()
                .filter(|place| !is_whole(&place.text))
                .map(|place| place.text.as_str())
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }

    /// `fd … -x command`.
    pub(super) fn fd(&mut self, args: &[Field]) -> bool {
        let Some(at) =
            args.iter().position(|arg| matches!(arg.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"))
        else {
            return false;
        };
        for place in args[..at].iter().filter(|arg| !arg.text.starts_with('-')).skip(1) {
            let fields: Vec<Field> = args[at + 1..]
                .iter()
                .cloned()
                .chain([place.clone()])
                .map(|field| Field { text: field.text.replace("{}", &place.text), guess: true, ..field })
                .collect();
            self.aside(|walk| walk.command(&fields, &Input::default()));
        }
        true
    }
}

/// Whether a place is all there is below the folder a command is in: too much to name anything.
fn is_whole(path: &str) -> bool {
    let rest = path.trim_end_matches(|c| !char::is_alphanumeric(c) && c != '.' && c != '~');
    rest.split('/').all(|part| matches!(part, "" | "." | ".." | "~"))
}
