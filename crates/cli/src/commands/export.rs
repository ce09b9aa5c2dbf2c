//! `export`: a shelf's files, in their own format.

use crate::args::{Args, Export};
use crate::output::Out;
use crate::wiring;
use heirloom_core::code::exit;
use heirloom_core::{Code, Fault, ShelfName, fault::Result};
use heirloom_engine::transfer::{export, write_below};
use serde_json::json;

/// The shelves that are files.
const SHELVES: [ShelfName; 4] = [ShelfName::Records, ShelfName::Topics, ShelfName::Notes, ShelfName::Vault];

pub(crate) fn run(args: &Args, call: &Export, out: &Out) -> Result<u8> {
    let wired = wiring::wire(args)?;
    if call.shelf.as_deref() == Some(ShelfName::Tiers.name()) {
        return super::archives::export(&wired, call, out);
    }
    if call.all_users {
        return Err(Fault::new(Code::Usage, "--all-users is for turns and facts").hint("add --shelf tiers"));
    }
    let shelves: Vec<ShelfName> = match &call.shelf {
        None => SHELVES.to_vec(),
        Some(name) => vec![SHELVES.into_iter().find(|shelf| shelf.name() == name).ok_or_else(|| {
            let names: Vec<&str> = ShelfName::ALL.iter().map(|shelf| shelf.name()).collect();
            Fault::new(Code::Usage, format!("there is no shelf `{name}`"))
                .hint(format!("use one of {}", names.join(", ")))
        })?],
    };
    let mut files = Vec::new();
    for shelf in &shelves {
        let natives = export(&wired.call, *shelf, call.retired)?;
        files.extend(natives.into_iter().filter(|native| !native.bytes.is_empty()).map(|mut native| {
            // One shelf alone lies at the top of the folder; several lie as they do in a memory folder.
            let folder = match (shelves.len(), shelf) {
                (1, _) | (_, ShelfName::Records | ShelfName::Vault) => String::new(),
                (_, other) => format!("{}/", other.name()),
            };
            native.name = format!("{folder}{}", native.name);
            native
        }));
    }
    let Some(folder) = &call.to else {
        if args.json {
            let listed: Vec<_> = files
                .iter()
                .map(|file| json!({ "name": file.name, "text": String::from_utf8_lossy(&file.bytes) }))
                .collect();
            out.json(&listed);
            return Ok(exit::OK);
        }
        if shelves == [ShelfName::Vault] {
            files.iter().for_each(|file| out.raw(&file.bytes));
            return Ok(exit::OK);
        }
        return Err(Fault::new(Code::Usage, "there are many files and no folder for them")
            .hint("name a new folder: --to FOLDER"));
    };
    let target = wired.cwd.join(folder);
    write_below(&target, &files)?;
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    out.answer(&json!({ "folder": target, "files": names }), || {
        out.line(format!("{} {} files to {}", out.style.green("exported"), files.len(), target.display()));
    });
    Ok(exit::OK)
}
