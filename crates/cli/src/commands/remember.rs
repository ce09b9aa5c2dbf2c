//! `remember`, and what a person is asked before a fact is stored.

use super::visible;
use crate::args::{self, Args};
use crate::output::Out;
use crate::{person, wiring};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::verbs::add::{Add, New, questions};
use heirloom_engine::verbs::remember::{NewFact, Question, Remember, remember};
use heirloom_engine::verbs::{Added, Yes};

pub(crate) fn run(args: &Args, call: &args::Remember, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    out.warnings(wired.warnings());
    let text = match &call.from {
        Some(file) => super::input::text(file)?,
        None => call.text.join(" "),
    };
    let fact = NewFact {
        text,
        subject: call.subject.clone(),
        tags: call.tag.clone(),
        confidence: Some(call.confidence),
        source: call.source.clone(),
    };
    let asks = questions(&wired.call, &Add::of(New::Fact(fact.clone())))?;
    let Some(yes) = answers(&asks, &fact.text, out)? else { return Ok(exit::REFUSED) };
    print(out, &remember(&wired.call, &Remember { fact, yes })?.done()?);
    Ok(exit::OK)
}

/// Puts the questions to the person who is here. `None` if they want nothing changed.
pub(super) fn answers(asks: &[Question], new: &str, out: &Out) -> Result<Option<Yes>> {
    let mut yes = Yes::default();
    for question in asks {
        match question {
            Question::PossibleSecret { rules } => {
                out.note(format!("this may contain a secret ({})", rules.join(", ")));
                if !person::confirm("Store it anyway?", false)? {
                    return Err(Fault::new(Code::GateRefused, "not stored, because you said no")
                        .hint("leave the value out and try again"));
                }
                yes.possible_secret = true;
            }
            Question::Supersedes { known } => {
                out.say(format!("  {}  {}", out.style.green("new  "), visible(new)));
                for known in known {
                    out.say(format!(
                        "  {}  {}  {}",
                        out.style.yellow("known"),
                        visible(&known.text),
                        out.style.dim(known.relation)
                    ));
                }
                if !person::confirm("Replace what is known with the new fact?", false)? {
                    out.say("nothing was changed");
                    return Ok(None);
                }
                yes.supersede.extend(known.iter().map(|known| known.id.clone()));
            }
        }
    }
    Ok(Some(yes))
}

pub(super) fn print(out: &Out, added: &Added) {
    out.answer(added, || {
        let word = if added.status == "created" { "saved" } else { "already known" };
        out.line(format!("{} {}", out.style.green(word), out.style.bold(added.id.as_str())));
        added.notes.iter().for_each(|note| out.note(note));
    });
}
