//! `export --shelf tiers` and `import` of what it wrote: archives of turns and facts.

use crate::args::{Export, Import};
use crate::output::Out;
use crate::person;
use crate::wiring::Wired;
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, Verb, fault::Result};
use heirloom_engine::files;
use heirloom_engine::shelf::tiers::ImportRules;
use heirloom_engine::verbs::remove;
use std::io::{BufRead, BufReader, BufWriter, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

pub(super) fn export(wired: &Wired, call: &Export, out: &Out) -> Result<u8> {
    if call.retired {
        return Err(Fault::new(Code::Usage, "an archive holds everything, also what is retired")
            .hint("leave --retired out"));
    }
    let tiers = wired.tiers()?;
    let mut progress = |count| bar(out, "written", count);
    let carried = match &call.to {
        None => tiers.export(call.all_users, &mut BufWriter::new(std::io::stdout().lock()), &mut progress)?,
        Some(path) => {
            let path = wired.cwd.join(path);
            if path.exists() {
                return Err(Fault::new(Code::Create, format!("`{}` is there already", path.display()))
                    .hint("name a new file"));
            }
            // Written beside and renamed, so that a file of that name is a whole archive.
            let beside = path.with_extension(format!("part-{}", std::process::id()));
            let cannot = |e: &std::io::Error| Fault::io(&beside, "write", e);
            let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside);
            let mut writer = BufWriter::new(file.map_err(|e| cannot(&e))?);
            let outcome = tiers.export(call.all_users, &mut writer, &mut progress).and_then(|carried| {
                writer.flush().and_then(|()| writer.get_ref().sync_all()).map_err(|e| cannot(&e))?;
                files::rename(&beside, &path)?;
                Ok(carried)
            });
            if outcome.is_err() {
                let _ = std::fs::remove_file(&beside);
            }
            outcome?
        }
    };
    done(out);
    if call.to.is_some() {
        out.answer(&carried, || {
            out.line(format!("{} {} memories", out.style.green("exported"), carried.memories))
        });
    }
    Ok(exit::OK)
}

pub(super) fn import(wired: &Wired, call: &Import, archive: &Path, out: &Out) -> Result<u8> {
    let tiers = wired.tiers()?;
    if call.vouch {
        person::required("vouching for an archive")?;
    }
    if call.even_removed && !call.dry_run {
        remove::permitted(&wired.call, Verb::Resurrect, "")?;
    }
    let rules = ImportRules {
        dry_run: call.dry_run,
        everybody: call.all_users,
        person: call.vouch,
        even_removed: call.even_removed,
    };
    let mut from: Box<dyn BufRead> = if archive.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin().lock()))
    } else {
        let path = wired.cwd.join(archive);
        let opened = std::fs::File::open(&path);
        Box::new(BufReader::new(
            opened
                .map_err(|e| Fault::new(Code::Input, format!("`{}` cannot be read: {e}", path.display())))?,
        ))
    };
    let brought = tiers.import(&mut from, rules, &mut |count| bar(out, "read", count))?;
    done(out);
    out.answer(&brought, || {
        let word = if call.dry_run { "would add" } else { "added" };
        out.line(format!(
            "{} {} memories, {} were there already",
            out.style.green(word),
            brought.added,
            brought.known
        ));
        let mut more = Vec::new();
        if brought.removed > 0 {
            more.push(format!(
                "{} were removed here and stay so (--even-removed brings them back)",
                brought.removed
            ));
        }
        if brought.expired > 0 {
            more.push(format!("{} are past their time", brought.expired));
        }
        if brought.waiting > 0 {
            more.push(format!("{} facts wait in `heirloom review`", brought.waiting));
        }
        for (code, count) in &brought.refused {
            more.push(format!("{count} were refused ({code})"));
        }
        if brought.unsealed_chunks > 0 {
            more.push(
                "the archive was not made here, so its memories count as an agent's words (--vouch believes what it says)"
                    .to_owned(),
            );
        }
        more.iter().for_each(|note| out.note(note));
    });
    Ok(exit::OK)
}

/// A count that overwrites itself, on a terminal only.
fn bar(out: &Out, word: &str, count: u64) {
    if std::io::stderr().is_terminal() {
        out.talk(format!("\r{count} {word}"));
    }
}

fn done(out: &Out) {
    if std::io::stderr().is_terminal() {
        out.say("");
    }
}
