//! `export`: a shelf's files, or an archive of turns and facts.

use crate::args::{Args, Export};
use crate::output::{Meter, Out, counted};
use crate::wiring::{self, Wired};
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, ShelfName, fault::Result};
use heirloom_engine::verbs::{archive, export};
use std::io::BufWriter;

pub(crate) fn run(args: &Args, call: &Export, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    if call.shelf.as_deref() == Some(ShelfName::Tiers.name()) {
        return turns_and_facts(&wired, call, out);
    }
    if call.all_users || call.user.is_some() {
        return Err(Fault::new(Code::Usage, "--all-users and --user are for turns and facts")
            .hint("add --shelf tiers"));
    }
    let ask = export::Export { shelf: call.shelf.clone(), retired: call.retired };
    let Some(folder) = &call.to else { return printed(&wired, &ask, out) };
    let mut meter = Meter::new();
    let done = export::export(&wired.call, &ask, &wired.cwd.join(folder), &mut |at| meter.show(at))?;
    drop(meter);
    name(out, &done.held_back);
    out.answer(&done, || {
        out.line(format!(
            "{} {} to {}",
            out.style.green("exported"),
            counted(done.files.len(), "file", "files"),
            done.folder.display()
        ));
    });
    Ok(exit::OK)
}

/// Files on standard output: a list for programs, or the one file of a vault.
fn printed(wired: &Wired, ask: &export::Export, out: &Out) -> Result<u8> {
    let vault_alone = ask.shelf.as_deref() == Some(ShelfName::Vault.name());
    let files = export::files(&wired.call, ask)?;
    if !out.is_json() && !vault_alone {
        return Err(
            Fault::new(Code::Usage, "many files need a folder").hint("name a new folder: --to FOLDER")
        );
    }
    name(out, &files.held_back);
    match out.is_json() {
        true => out.json(&files.shown()),
        false => files.natives.iter().for_each(|file| out.raw(&file.bytes)),
    }
    Ok(exit::OK)
}

/// Names what this caller does not get.
fn name(out: &Out, held_back: &[export::HeldBack]) {
    held_back.iter().for_each(|held| out.note(format!("held back: {} {}", held.name, held.why)));
}

fn turns_and_facts(wired: &Wired, call: &Export, out: &Out) -> Result<u8> {
    if call.retired {
        return Err(Fault::new(Code::Usage, "an archive holds everything, also what is retired")
            .hint("leave --retired out"));
    }
    wired.tiers()?;
    let ask = archive::WriteArchive { all_users: call.all_users, user: call.user.clone() };
    let mut meter = Meter::new();
    let Some(path) = &call.to else {
        let mut stdout = BufWriter::new(std::io::stdout().lock());
        archive::write(&wired.call, &ask, &mut stdout, &mut |at| meter.show(at))?;
        return Ok(exit::OK);
    };
    let carried = archive::write_file(&wired.call, &ask, &wired.cwd.join(path), &mut |at| meter.show(at))?;
    drop(meter);
    out.answer(&carried, || {
        out.line(format!("{} {} memories", out.style.green("exported"), carried.memories));
    });
    Ok(exit::OK)
}
