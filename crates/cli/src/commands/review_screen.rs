//! `review` at a terminal: one waiting item after the other, in full, and a key for each decision.
//!
//! Comes in: what waits, and keys. Goes out: decisions, each through the same verbs as `review accept` and `review reject`, each undoable. A yes counts for exactly
//! the bytes on the screen. Never here: an item that is decided without having been shown.

use super::review_list::{print_draft, print_stored};
use super::show::print_memory;
use super::{edit, visible};
use crate::args::Args;
use crate::output::{Out, unified};
use crate::picker::{self, OneKey as Pressed};
use crate::wiring::Wired;
use crate::{args, person};
use heirloom_core::code::exit;
use heirloom_core::text::one_line;
use heirloom_core::{Memory, MemoryId, Verb, fault::Result};
use heirloom_engine::verbs::add::{Add, New, Taken, Words, add};
use heirloom_engine::verbs::decide::{self, Chosen, Reject, Shown, Waits};
use heirloom_engine::verbs::life::{self, Move};
use heirloom_engine::verbs::{show, undo};

/// The keys, as the last line of every item says them.
const KEYS: &str = "a accept  r reject  e edit  s skip  A accept all  R reject all  u undo  q quit";
/// What a memory that nobody accepted waits for.
const UNACCEPTED: &str =
    "an agent saved it and nobody has accepted it; until then it is not given to every session";
/// Why a rejected memory is out of use, in its history.
const TURNED_DOWN: &str = "rejected in review";

/// Something that waits for a yes or no.
enum Item {
    Draft(Box<Shown>),
    Saved(Box<Memory>),
}

impl Item {
    fn key(&self) -> String {
        match self {
            Item::Draft(shown) => shown.item.key.clone(),
            Item::Saved(memory) => memory.id.to_string(),
        }
    }

    fn id(&self) -> &str {
        match self {
            Item::Draft(shown) => &shown.item.id,
            Item::Saved(memory) => memory.id.as_str(),
        }
    }

    fn chosen(&self) -> Chosen {
        match self {
            Item::Draft(shown) => Chosen { drafts: vec![(**shown).clone()], ..Chosen::default() },
            Item::Saved(memory) => Chosen { memories: vec![(**memory).clone()], ..Chosen::default() },
        }
    }
}

fn items(seen: &Waits) -> Vec<Item> {
    let drafts = seen.waiting.drafts.iter().map(|shown| Item::Draft(Box::new(shown.clone())));
    let saved = seen.waiting.saved_by_agents.iter().map(|memory| Item::Saved(Box::new(memory.clone())));
    drafts.chain(saved).collect()
}

/// Goes through what waits. Returns the exit code and what still waits when it ended.
pub(super) fn run(args: &Args, wired: &mut Wired, seen: Waits, out: &Out) -> Result<u8> {
    let mut screen = Screen { args, wired, out, done: 0, checked: false, skipped: Vec::new() };
    let mut seen = seen;
    let mut back_to: Option<String> = None;
    loop {
        let all = items(&seen);
        let open = |item: &&Item| !screen.skipped.contains(&item.key());
        let left: Vec<&Item> = all.iter().filter(open).collect();
        let again = back_to.take().and_then(|key| left.iter().position(|item| item.key() == key));
        let Some(item) = left.get(again.unwrap_or(0)) else { break };
        screen.show(item, all.len() - left.len() + 1, all.len(), &seen)?;
        match screen.press(item, &left)? {
            Next::Stay => back_to = Some(item.key()),
            Next::On => {}
            Next::Quit => break,
            Next::Interrupted => return Ok(exit::INTERRUPTED),
        }
        seen = decide::list(&screen.wired.call)?;
    }
    let (done, skipped) = (screen.done, screen.skipped.len());
    out.say(match (done, skipped) {
        (0, 0) => "nothing was decided".to_owned(),
        (0, skipped) => format!("{skipped} skipped, nothing was decided"),
        (done, 0) => format!("{done} decided; `heirloom undo` undoes the last decision"),
        (done, skipped) => {
            format!("{done} decided, {skipped} skipped; `heirloom undo` undoes the last decision")
        }
    });
    Ok(exit::OK)
}

/// Where to go after a key.
enum Next {
    /// To the same item again.
    Stay,
    /// To the next one.
    On,
    Quit,
    Interrupted,
}

struct Screen<'a> {
    args: &'a Args,
    wired: &'a mut Wired,
    out: &'a Out,
    /// Decisions that can be undone.
    done: usize,
    /// Whether the person was checked.
    checked: bool,
    skipped: Vec<String>,
}

impl Screen<'_> {
    fn show(&self, item: &Item, at: usize, of: usize, seen: &Waits) -> Result<()> {
        let out = self.out;
        out.line("");
        out.line(out.style.bold(&format!("{at} of {of}")));
        match item {
            Item::Draft(shown) => {
                print_draft(out, shown);
                self.beside(shown)?;
            }
            Item::Saved(memory) => {
                self.saved(memory)?;
                out.line("");
                out.line(format!("{} {UNACCEPTED}", out.style.dim("waits because")));
            }
        }
        let alike = seen.suggestions.near_duplicates.iter();
        for pair in alike.filter(|pair| [pair.a.as_str(), pair.b.as_str()].contains(&item.id())) {
            let other = if pair.a.as_str() == item.id() { &pair.b } else { &pair.a };
            out.line(format!("{} {other} ({:.2})", out.style.yellow("similar to"), pair.score));
        }
        Ok(())
    }

    /// A stored memory, and all that is stored of it: a yes is for every byte.
    fn saved(&self, memory: &Memory) -> Result<()> {
        print_memory(self.out, memory);
        let ask = show::Show { id: memory.id.to_string() };
        print_stored(self.out, &String::from_utf8_lossy(&show::stored(&self.wired.call, &ask)?));
        Ok(())
    }

    /// What a draft would replace, as a diff.
    fn beside(&self, shown: &Shown) -> Result<()> {
        if shown.would_be != "updated" {
            return Ok(());
        }
        let ask = show::Show { id: shown.item.id.clone() };
        let Ok(now) = show::stored(&self.wired.call, &ask) else { return Ok(()) };
        let now = String::from_utf8_lossy(&now).into_owned();
        let asked: Vec<(&str, &str)> = shown
            .fields
            .iter()
            .filter_map(|field| Some((field.name.strip_prefix("asked.")?, field.value.as_str())))
            .collect();
        let lines = match asked.is_empty() {
            true => unified(&pretty(&now), &pretty(&shown.item.draft.to_string())),
            false => changes(&now, &asked),
        };
        if !lines.is_empty() {
            self.out.line(self.out.style.dim("what would change"));
        }
        for line in lines {
            let line = visible(&line);
            self.out.line(match line.as_bytes().first() {
                Some(b'+') => self.out.style.green(&line),
                Some(b'-') => self.out.style.red(&line),
                _ => line,
            });
        }
        Ok(())
    }

    fn press(&mut self, item: &Item, left: &[&Item]) -> Result<Next> {
        self.out.line("");
        let key = picker::one_key(KEYS, "aresARuq")?;
        let result = match key {
            Pressed::Interrupted => return Ok(Next::Interrupted),
            Pressed::Left | Pressed::Key('q') => return Ok(Next::Quit),
            Pressed::Key('a') => self.accept(&item.chosen()).map(|()| Next::On),
            Pressed::Key('r') => self.reject(&[item]).map(|()| Next::On),
            Pressed::Key('e') => self.edit(item),
            Pressed::Key('s') => {
                self.skipped.push(item.key());
                Ok(Next::On)
            }
            Pressed::Key('A') => self.accept_all(left),
            Pressed::Key('R') => self.reject_all(left),
            Pressed::Key('u') => self.undo(),
            Pressed::Key(_) => Ok(Next::Stay),
        };
        // What cannot be done to one item keeps nobody from the others.
        result.or_else(|fault| {
            if person::has_stopped() {
                return Ok(Next::Interrupted);
            }
            self.out.fault(&fault);
            Ok(Next::Stay)
        })
    }

    fn accept(&mut self, chosen: &Chosen) -> Result<()> {
        if !self.checked {
            person::checked(&mut *self.wired, Verb::Accept)?;
            self.checked = true;
        }
        let done = decide::accept(&self.wired.call, &chosen.yes())?;
        for id in done.accepted.iter().chain(&done.stored) {
            self.out.line(format!("{} {}", self.out.style.green("accepted"), visible(&one_line(id))));
            self.done += 1;
        }
        match done.failed.into_iter().next() {
            Some(failed) => Err(failed.fault),
            None => Ok(()),
        }
    }

    /// A draft is thrown away; a stored memory is taken out of use.
    fn reject(&mut self, items: &[&Item]) -> Result<()> {
        let drafts: Vec<String> =
            items.iter().filter(|item| matches!(item, Item::Draft(_))).map(|item| item.key()).collect();
        let saved: Vec<String> =
            items.iter().filter(|item| matches!(item, Item::Saved(_))).map(|item| item.key()).collect();
        if !drafts.is_empty() {
            decide::reject(&self.wired.call, &Reject { keys: drafts })?;
        }
        if !saved.is_empty() {
            let ask = Move { ids: saved, reason: Some(TURNED_DOWN.to_owned()) };
            life::retire(&self.wired.call, &ask)?;
        }
        for item in items {
            let word = if matches!(item, Item::Draft(_)) { "rejected" } else { "retired" };
            self.out.line(format!("{} {}", self.out.style.yellow(word), visible(&one_line(item.id()))));
            self.done += 1;
        }
        Ok(())
    }

    fn accept_all(&mut self, left: &[&Item]) -> Result<Next> {
        let mut all = Chosen::default();
        for item in left {
            self.out.line("");
            match item {
                Item::Draft(shown) => print_draft(self.out, shown),
                Item::Saved(memory) => self.saved(memory)?,
            }
            let Chosen { drafts, memories, .. } = item.chosen();
            all.drafts.extend(drafts);
            all.memories.extend(memories);
        }
        self.out.line("");
        if person::confirm(&format!("Accept all {} as shown above?", left.len()), false)? {
            self.accept(&all)?;
            return Ok(Next::On);
        }
        Ok(Next::Stay)
    }

    fn reject_all(&mut self, left: &[&Item]) -> Result<Next> {
        for item in left {
            self.out.line(format!("  {}", visible(&one_line(item.id()))));
        }
        if person::confirm(&format!("Reject all {}?", left.len()), false)? {
            self.reject(left)?;
            return Ok(Next::On);
        }
        Ok(Next::Stay)
    }

    fn undo(&mut self) -> Result<Next> {
        if self.done == 0 {
            self.out.say("nothing was decided yet");
            return Ok(Next::Stay);
        }
        let undone = undo::undo(&self.wired.call, &undo::Undo::default())?;
        let mut ids: Vec<&str> = undone.memories.iter().map(|step| step.id.as_str()).collect();
        ids.dedup();
        for id in ids {
            self.out.line(format!("{} {}", self.out.style.green("undone"), visible(&one_line(id))));
        }
        self.done -= 1;
        Ok(Next::On)
    }

    /// A stored memory opens in the editor. A draft does too; what comes back is the person's own text, and the draft goes.
    fn edit(&mut self, item: &Item) -> Result<Next> {
        let by_hand = |id: &str| args::Edit::of(id);
        match item {
            Item::Saved(memory) => {
                edit::run(self.args, &by_hand(memory.id.as_str()), self.out)?;
                self.done += 1;
                Ok(Next::Stay)
            }
            Item::Draft(shown) if there(self.wired, &shown.item.id) => {
                edit::run(self.args, &by_hand(&shown.item.id), self.out)?;
                self.done += 1;
                self.reject(&[item])?;
                Ok(Next::On)
            }
            Item::Draft(shown) => self.edit_new(shown, item),
        }
    }

    fn edit_new(&mut self, shown: &Shown, item: &Item) -> Result<Next> {
        let memory = &shown.item.draft["memory"];
        // Facts and turns are a sentence; everything else is its fields.
        let (text, ending) = match memory["content"].as_str().or_else(|| memory["text"].as_str()) {
            Some(sentence) => (format!("{sentence}\n"), "txt"),
            None => (pretty(&shown.item.draft.to_string()), "json"),
        };
        let Some(changed) = edit::text_in_editor(self.wired, ending, &text)? else {
            self.out.say("nothing changed");
            return Ok(Next::Stay);
        };
        let words = Words {
            kind: shown.kind.clone(),
            taken: Some(Taken { name: "the draft".to_owned(), text: changed }),
            ..Words::default()
        };
        let ask = Add { from: Some(self.wired.cwd.clone()), ..Add::of(New::said(&self.wired.call, words)?) };
        let added = add(&self.wired.call, &ask)?.done()?;
        self.out.line(format!("{} {}", self.out.style.green("saved"), visible(&one_line(added.id.as_str()))));
        self.done += 1;
        self.reject(&[item])?;
        Ok(Next::On)
    }
}

fn there(wired: &Wired, id: &str) -> bool {
    MemoryId::parse(id).is_some() && show::show(&wired.call, &show::Show { id: id.to_owned() }).is_ok()
}

/// JSON in lines, so that a diff shows single fields; anything else as it is.
fn pretty(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => serde_json::to_string_pretty(&value).unwrap_or_default() + "\n",
        Err(_) => text.to_owned(),
    }
}

/// The fields that are asked for, beside what they are now.
fn changes(now: &str, asked: &[(&str, &str)]) -> Vec<String> {
    let now: serde_json::Value = serde_json::from_str(now).unwrap_or_default();
    let mut lines = Vec::new();
    for (name, value) in asked.iter().filter(|(name, _)| !["id", "version", "seen"].contains(name)) {
        let short = name.rsplit('.').next().unwrap_or(name);
        let old = now.get(short).or_else(|| now.get("content").and_then(|content| content.get(short)));
        if let Some(old) = old {
            let old = old.as_str().map_or_else(|| old.to_string(), str::to_owned);
            lines.push(format!("- {short}: {}", one_line(&old)));
        }
        lines.push(format!("+ {short}: {}", one_line(value)));
    }
    lines
}

/// Whether somebody is here who can press keys.
pub(super) fn is_possible() -> bool {
    picker::can_ask()
}
