//! A project with its store, and everybody who may come to it.

use crate::shelf::tiers::{Access, SqliteStore, Terms, UserContext, give_token, put_user};
use crate::{Call, Deployment, Project, World};
use heirloom_core::{Audience, Caller, Grant, Scopes, Settings, Who, time};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everybody.
pub(super) const WHO: [&str; 12] = [
    "person",
    "agent",
    "nobody",
    "token read",
    "token write",
    "token read,write",
    "token read,write,delete",
    "token read,write,facts",
    "token read,write,admin",
    "token read,write,upkeep",
    "token read,write,delete,facts,admin,upkeep",
    "person with token read,write",
];

/// A caller and what opens the tiers to them.
pub(super) struct Whose {
    pub(super) caller: Caller,
    token: Option<String>,
    pub(super) signed_in: bool,
}

impl Whose {
    /// The same caller, known by the token they hold.
    pub(super) fn known(mut self, desk: &Desk) -> Whose {
        let again =
            Whose { caller: self.caller.clone(), token: self.token.clone(), signed_in: self.signed_in };
        self.caller = desk.call(again).caller().clone();
        self
    }
}

/// What a store holds, as far as a verb may change it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Files of the shelves, rows of the tiers, users and tokens.
    pub(super) stored: BTreeMap<String, Vec<u8>>,
    /// What waits for a person.
    pub(super) waiting: Vec<String>,
    /// Both audits, a line each.
    pub(super) audit: Vec<String>,
}

pub(super) struct Desk {
    folder: tempfile::TempDir,
    /// Whether a person has to show a PIN.
    pub(super) pin: std::cell::Cell<bool>,
}

impl Desk {
    pub(super) fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project/.claude/memory")).unwrap();
        std::fs::write(folder.path().join("project/queue.rs"), "fn fetch() {}\n").unwrap();
        let desk = Desk { folder, pin: std::cell::Cell::new(false) };
        let call = desk.call(desk.whose("person"));
        let (tiers, world) = (call.tiers().unwrap(), call.project().world());
        for user in ["tester", "other"] {
            put_user(tiers.store(), tiers.who(), user, world).unwrap();
        }
        for (scopes, name) in WHO.iter().filter_map(|name| Some((name.split_once("token ")?.1, *name))) {
            let terms = Terms {
                name: scopes.replace(',', "-") + if name.starts_with("person") { "-p" } else { "" },
                scopes: Scopes::parse(scopes).unwrap(),
                days: None,
                hours: None,
            };
            give_token(tiers.store(), tiers.who(), "tester", &secret(name), &terms, world).unwrap();
        }
        drop(call);
        desk
    }

    pub(super) fn memory(&self) -> PathBuf {
        self.folder.path().join("project/.claude/memory")
    }

    pub(super) fn whose(&self, name: &str) -> Whose {
        let sees = Audience::of(vec!["shared".into(), "orion".into()]);
        let agent = Caller::process("tester").as_agent(Some("orion"), sees);
        let token = name.contains("token ").then(|| secret(name));
        let (caller, signed_in) = match name {
            "nobody" => (agent.known_by(Who::Nobody, Scopes::NONE.with(Grant::Read)), false),
            _ if name.starts_with("person") => (Caller::person("tester"), true),
            _ => (agent, true),
        };
        Whose { caller, token, signed_in }
    }

    pub(super) fn call(&self, whose: Whose) -> Call {
        self.call_at(whose, "2026-01-10T09:00:00Z")
    }

    pub(super) fn call_at(&self, whose: Whose, now: &str) -> Call {
        let Whose { mut caller, token, signed_in } = whose;
        let count = std::fs::read_dir(self.folder.path()).map_or(0, Iterator::count);
        let world = World {
            now: time::parse(now).unwrap(),
            data: self.folder.path().join("data"),
            nonce: heirloom_core::hash::sha256(format!("{now} {count}").as_bytes())[..32].to_owned(),
            user: "tester".into(),
        };
        let tiers = self.folder.path().join("data/tiers");
        let store = Arc::new(SqliteStore::at(&tiers));
        let context = match &token {
            Some(token) => UserContext::by_token(store.as_ref(), token, world.now).unwrap(),
            None => UserContext::by_account(&world).unwrap(),
        };
        if let Some((id, scopes)) = context.token() {
            caller = caller.known_by(Who::Token { user: "tester".into(), id: id.to_owned() }, scopes);
        }
        let mut settings = Settings::standard();
        settings.vault.agents.insert("orion".into(), "orion".into());
        if self.pin.get() {
            settings.person_check = heirloom_core::settings::PersonCheck::Pin;
        }
        let folder = self.folder.path().join("project");
        let project = Project::new(&folder, &folder.join(".claude/memory"), world);
        let deployment = Arc::new(
            Deployment::default()
                .with_user_settings(self.folder.path().join("config/config.json"))
                .with_dice(|| Ok([7; 32])),
        );
        let call = deployment.call(project, settings, caller);
        if signed_in { call.with_tiers(Access::new(store, context, &tiers)) } else { call }
    }

    /// Nobody here knows any more who wrote the files.
    pub(super) fn lose_the_trust_book(&self) {
        for project in std::fs::read_dir(self.folder.path().join("data/projects")).unwrap().flatten() {
            let _ = std::fs::remove_file(project.path().join("trust.jsonl"));
        }
    }

    pub(super) fn state(&self) -> State {
        let person = self.call(self.whose("person"));
        let tiers = person.tiers().unwrap();
        let mut stored = BTreeMap::new();
        files_below(&self.memory(), &mut |path, bytes| {
            let name = path.strip_prefix(self.memory()).unwrap().display().to_string();
            if !name.starts_with(".local") {
                stored.insert(name, bytes);
            }
        });
        for row in tiers.newest(None, None, None, usize::MAX).unwrap() {
            stored.insert(format!("tiers/{}", row.id), serde_json::to_vec(&row).unwrap());
        }
        for account in tiers.store().accounts(tiers.who()).unwrap() {
            stored.insert(format!("users/{}", account.user), Vec::new());
        }
        for token in tiers.store().tokens(tiers.who(), None).unwrap() {
            stored.insert(format!("tokens/{}/{}", token.user, token.name), token.hash.into_bytes());
        }
        let invites = person.project().world().data.join("tiers/invites");
        files_below(&invites, &mut |path, bytes| {
            stored.insert(format!("invites/{}", path.file_name().unwrap().display()), bytes);
        });
        let now = person.project().world().now;
        let inboxes = person.inboxes().unwrap();
        let waiting =
            inboxes.iter().flat_map(|inbox| inbox.list(now).unwrap()).map(|item| item.key).collect();
        let mut audit = Vec::new();
        if person.project().has_local() {
            let path = person.project().local().unwrap().path("audit.jsonl");
            // Where a test put something else in its place, there is nothing to read.
            let entries = crate::gate::audit::entries(&path).unwrap_or_default();
            audit.extend(entries.iter().map(ToString::to_string));
        }
        // Lines of the user's own chain that tell of a look, like the ones just above, are no deeds.
        let deeds = |line: &crate::shelf::tiers::Line| line.action != crate::shelf::tiers::Action::MemoryRead;
        let own = tiers.audit(usize::MAX, deeds).unwrap();
        audit.extend(own.iter().map(|line| serde_json::to_string(line).unwrap()));
        State { stored, waiting, audit }
    }

    /// Every file there is.
    pub(super) fn keep(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut kept = BTreeMap::new();
        files_below(self.folder.path(), &mut |path, bytes| drop(kept.insert(path.to_owned(), bytes)));
        kept
    }

    /// Everything as it was.
    pub(super) fn put_back(&self, kept: &BTreeMap<PathBuf, Vec<u8>>) {
        files_below(self.folder.path(), &mut |path, bytes| match kept.get(path) {
            Some(was) if *was == bytes => {}
            _ => std::fs::remove_file(path).unwrap(),
        });
        for (path, bytes) in kept {
            if !path.exists() {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, bytes).unwrap();
            }
        }
    }
}

fn secret(name: &str) -> String {
    format!("hlm_{}", name.replace([' ', ','], "_"))
}

fn files_below(folder: &Path, see: &mut dyn FnMut(&Path, Vec<u8>)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&path, see),
            Ok(kind) if kind.is_file() => see(&path, std::fs::read(&path).unwrap()),
            _ => {}
        }
    }
}
