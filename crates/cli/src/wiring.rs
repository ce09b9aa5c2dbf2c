//! The composition root: from arguments, environment and files to a [`Call`].
//!
//! Comes in: where the user is and what they said. Goes out: a call on the project, with its settings and where each of them comes
//! from. Never below this crate: reading any of it.

use crate::args::{Args, Command, ConfigAction};
use crate::endpoint::{self, Patience};
use crate::{approval, environment, rooted};
use heirloom_core::settings::{self, Layer, Loaded, Origin};
use heirloom_core::{Code, Fault, Settings, fault::Result, json};
use heirloom_engine::index::embed::chosen::Given;
use heirloom_engine::shelf::tiers::{Access, SqliteStore, TierStore, Tiers, UserContext};
use heirloom_engine::{Call, Deployment, Project, World, files};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use crate::rooted::{may_have_memory, project_folder};

/// Where a project keeps its settings, wherever its memory is.
pub(crate) const PROJECT_SETTINGS: &str = ".claude/memory/memory-config.json";

/// The default memory folder.
pub(crate) const DEFAULT_ROOT: &str = ".claude/memory";

/// The setting that asks for more than a terminal.
const PERSON_CHECK: &str = "person.check";

/// The largest settings file.
const MAX_SETTINGS: u64 = 1 << 20;

/// A call and what was found on the way to it.
pub(crate) struct Wired {
    pub(crate) call: Call,
    pub(crate) loaded: Said,
    pub(crate) cwd: PathBuf,
    /// Why the tiers cannot be reached, if they cannot. Everything else works without them.
    signed_out: Option<Fault>,
}

/// What there is to say about the settings the call has.
pub(crate) struct Said {
    /// Every setting that has a value, by name.
    pub(crate) values: Vec<settings::Valued>,
    /// What could not be used.
    pub(crate) warnings: Vec<settings::Warning>,
}

impl Wired {
    /// From now on the person is one who was checked.
    pub(crate) fn by_checked_person(&mut self) {
        self.call.check_person();
    }

    /// Why the tiers are left out, if they are.
    pub(crate) fn left_out(&self) -> Option<&Fault> {
        self.signed_out.as_ref()
    }

    /// The tiers of whoever runs this command.
    pub(crate) fn tiers(&self) -> Result<Tiers<'_>> {
        match &self.signed_out {
            Some(fault) => Err(fault.clone()),
            None => self.call.tiers(),
        }
    }
}

/// The tiers: in the user's data folder, or in the database that was named; as the system's account, or as the owner of a token.
fn access(args: &Args, world: &World, model: Option<Given>) -> Result<Access> {
    let folder = world.data.join("tiers");
    let kept = environment::text("HEIRLOOM_DATABASE_URL");
    let token = environment::token();
    if token.as_ref().is_some_and(|token| token.trim().is_empty()) {
        return Err(Fault::new(Code::Unauthenticated, "HEIRLOOM_TOKEN is empty").hint(
            "unset HEIRLOOM_TOKEN to act as your own account, or set it to a token of `heirloom user token`",
        ));
    }
    let elsewhere = matches!((&args.database, &kept), (Some(named), Some(kept)) if named != kept);
    if token.is_some() && elsewhere {
        let message =
            "the token in HEIRLOOM_TOKEN is for the database in HEIRLOOM_DATABASE_URL and goes to no other";
        return Err(Fault::new(Code::Unauthenticated, message).hint(
            "leave --database out, or set HEIRLOOM_DATABASE_URL and HEIRLOOM_TOKEN of that database together",
        ));
    }
    let store: Arc<dyn TierStore> = match args.database.clone().or(kept) {
        None => Arc::new(SqliteStore::at(&folder).with_model(model)),
        Some(address) => postgres(&address)?,
    };
    let who = match token {
        None => UserContext::by_account(world)?,
        Some(token) => UserContext::by_token(store.as_ref(), &token, world.now)?,
    };
    Ok(Access::new(store, who, &folder))
}

/// Whether a command has nothing to do with the tiers, or goes on without them and says so. To every other one a token that is nobody's is an
/// error: an answer without the tiers would look like tiers without memories.
fn goes_on_signed_out(command: &Command) -> bool {
    matches!(
        command,
        Command::Hook(_)
            | Command::Init(_)
            | Command::Setup(_)
            | Command::Config(_)
            | Command::Doctor(_)
            | Command::Last(_)
            | Command::Model(_)
            | Command::Record(_)
            | Command::Lesson(_)
            | Command::Note(_)
            | Command::Vault(_)
    )
}

#[cfg(feature = "postgres")]
fn postgres(address: &str) -> Result<Arc<dyn TierStore>> {
    Ok(Arc::new(heirloom_postgres::PgStore::at(address)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_address: &str) -> Result<Arc<dyn TierStore>> {
    Err(Fault::new(Code::Usage, "this build of Heirloom cannot reach PostgreSQL")
        .hint("use a build with the feature `postgres`, or leave --database and HEIRLOOM_DATABASE_URL out"))
}

/// What time it is and who asks.
#[allow(clippy::disallowed_methods, reason = "the one place that looks at the clock")]
pub(crate) fn world() -> World {
    World {
        now: jiff::Timestamp::now(),
        data: environment::data_folder(),
        nonce: nonce(),
        user: environment::user(),
    }
}

/// Random bytes for what must not be guessed.
pub(crate) fn random() -> Result<[u8; 32]> {
    let mut bytes = [0u8; 32];
    match rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()) {
        Ok(32) => Ok(bytes),
        _ => Err(Fault::new(Code::Io, "the system gives no random numbers")),
    }
}

/// Sixteen random bytes as hex.
fn nonce() -> String {
    // The kernel's generator never blocks once the system is up; if it is missing altogether, time and process id still make the
    // value differ between calls, and nothing secret depends on it.
    let seed = random().map(Vec::from);
    let seed =
        seed.unwrap_or_else(|_| format!("{:?}-{}", std::time::Instant::now(), std::process::id()).into());
    heirloom_core::hash::sha256(&seed)[..32].to_owned()
}

/// Where the command was started.
pub(crate) fn cwd(args: &Args) -> Result<PathBuf> {
    let here = environment::current_folder()
        .map_err(|e| Fault::new(Code::Io, format!("the current folder cannot be found: {e}")))?;
    match &args.project {
        None => Ok(here),
        Some(folder) => {
            let folder = here.join(folder);
            if folder.is_dir() {
                Ok(folder)
            } else {
                Err(Fault::new(Code::Usage, format!("`{}` is no folder", folder.display()))
                    .hint("give an existing project folder with --project"))
            }
        }
    }
}

/// A call for the project the user is in.
pub(crate) fn wire(args: &Args) -> Result<Wired> {
    let cwd = cwd(args)?;
    let folder = project_folder(&cwd);
    wire_at(args, &folder, None, cwd)
}

/// A call for a project folder; `root` overrides where its memory is (then its settings are taken from there).
pub(crate) fn wire_at(args: &Args, folder: &Path, root: Option<&Path>, cwd: PathBuf) -> Result<Wired> {
    let wired = unchecked(args, folder, root, cwd)?;
    if root.is_none() {
        rooted::stays_inside(&wired)?;
        rooted::is_wanted(&wired)?;
    }
    Ok(wired)
}

/// The same for whoever only reads and changes settings: those must work where other files lie in the memory folder. A link in its place is
/// refused to them as well, unless the user's own settings are what is changed.
pub(crate) fn wire_for_settings(args: &Args) -> Result<Wired> {
    let cwd = cwd(args)?;
    let wired = unchecked(args, &project_folder(&cwd), None, cwd)?;
    if !of_the_user(&args.command) {
        rooted::stays_inside(&wired)?;
    }
    Ok(wired)
}

/// Whether a command changes nothing but the user's own settings.
fn of_the_user(command: &Command) -> bool {
    let Command::Config(config) = command else { return false };
    matches!(config.action, ConfigAction::Set { user: true, .. } | ConfigAction::Unset { user: true, .. })
}

fn unchecked(args: &Args, folder: &Path, root: Option<&Path>, cwd: PathBuf) -> Result<Wired> {
    let settings_file = match root {
        Some(root) => root.join("memory-config.json"),
        None => folder.join(PROJECT_SETTINGS),
    };
    let Loaded { settings, values, warnings } = load_settings(args, folder, &settings_file)?;
    if settings.auto_commit {
        files::keep_changed();
    }
    let mut loaded = Said { values, warnings };
    let root = root.map_or_else(|| memory_root(folder, &settings), Path::to_owned);
    let world = world();
    let endpoint = settings
        .embedding
        .as_ref()
        .map(|named| endpoint::embedder(named, &settings.gate, patience(args), &world.data));
    let access = access(args, &world, endpoint.clone());
    let project = Project::new(folder, &root, world);
    let deployment = Arc::new(Deployment::new(environment::home()).with_model(endpoint).with_dice(random));
    let caller =
        crate::person::caller(&project.world().user, &settings, access.as_ref().ok(), args.command.agent());
    let call = deployment.call(project, settings, caller);
    Ok(match access {
        Ok(access) => Wired { call: call.with_tiers(access), loaded, cwd, signed_out: None },
        Err(fault) if fault.code == Code::Unauthenticated && !goes_on_signed_out(&args.command) => {
            return Err(fault);
        }
        Err(fault) => {
            let message = format!("left out: {}", fault.message);
            let name = "tiers".to_owned();
            loaded.warnings.push(settings::Warning { name, origin: Origin::Environment, message });
            Wired { call, loaded, cwd, signed_out: Some(fault) }
        }
    })
}

/// Who waits for an endpoint.
pub(crate) fn patience(args: &Args) -> Patience {
    match &args.command {
        Command::Hook(_) => Patience::Prompt,
        _ if crate::person::is_present() => Patience::Person,
        _ => Patience::Nobody,
    }
}

/// The memory folder that the settings of a project name.
pub(crate) fn configured_root(args: &Args, folder: &Path) -> Option<PathBuf> {
    let loaded = load_settings(args, folder, &folder.join(PROJECT_SETTINGS)).ok()?;
    Some(memory_root(folder, &loaded.settings))
}

/// The memory folder the settings name.
fn memory_root(folder: &Path, settings: &Settings) -> PathBuf {
    let named = &settings.memory_root;
    match (named.strip_prefix("~/"), environment::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(named),
    }
}

/// The settings, nearest layer first.
pub(crate) fn load_settings(args: &Args, folder: &Path, project_file: &Path) -> Result<Loaded> {
    let flags = args.set.iter().map(|pair| setting_of(pair)).collect::<Result<Vec<_>>>()?;
    let mut broken = Vec::new();
    let own = user_document(&mut broken);
    let pinned = own.as_ref().is_some_and(asks_for_pin);
    let mut layers = vec![
        Layer {
            origin: Origin::Flag,
            document: only_a_person_loosens(flags, Origin::Flag, pinned, &mut broken),
        },
        Layer {
            origin: Origin::Environment,
            document: only_a_person_loosens(
                environment::settings(),
                Origin::Environment,
                pinned,
                &mut broken,
            ),
        },
    ];
    match read_document(project_file) {
        Ok(Some(document)) => {
            let approved = approval::given(folder, project_file, &document);
            layers.push(Layer { origin: Origin::Project, document });
            layers.extend(approved.map(|document| Layer { origin: Origin::User, document }));
        }
        Ok(None) => {}
        Err(message) => broken.push(settings::Warning {
            name: project_file.display().to_string(),
            origin: Origin::Project,
            message,
        }),
    }
    layers.extend(own.map(|document| Layer { origin: Origin::User, document }));
    layers.sort_by_key(|layer| layer.origin);
    let mut loaded = settings::load(&layers);
    approval::explain(&mut loaded.warnings);
    loaded.warnings.extend(broken);
    Ok(loaded)
}

/// The user's own settings. Guarded ones count as the user's word only where nobody else could have written them.
fn user_document(warnings: &mut Vec<settings::Warning>) -> Option<Value> {
    let path = user_settings_file();
    let mut warn = |message: String| {
        let name = path.display().to_string();
        warnings.push(settings::Warning { name, origin: Origin::User, message });
    };
    let mut document = match read_document(&path) {
        Ok(document) => document?,
        Err(message) => {
            warn(message);
            return None;
        }
    };
    let Some(why) = environment::others_may_write(&path) else { return Some(document) };
    let guarded: Vec<String> = settings::flatten(&document)
        .leaves
        .iter()
        // What only asks for more is no danger, whoever wrote it.
        .filter(|(_, leaf)| settings::needs_person(leaf.key, leaf.value) && !asks(leaf))
        .map(|(name, _)| name.clone())
        .collect();
    for name in &guarded {
        settings::flat::remove(&mut document, name);
    }
    if !guarded.is_empty() {
        let names = guarded.join(", ");
        warn(format!(
            "{why}, so these of its settings do not count: {names}; `chmod 600` the file if they are yours"
        ));
    }
    Some(document)
}

/// Whether a document switches the PIN on.
fn asks_for_pin(document: &Value) -> bool {
    settings::flatten(document).leaves.values().any(asks)
}

fn asks(leaf: &settings::flat::Leaf<'_>) -> bool {
    leaf.key.name == PERSON_CHECK && leaf.value == "pin"
}

/// `KEY=VALUE` of `--set`.
fn setting_of(pair: &str) -> Result<(String, String)> {
    match pair.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Fault::new(Code::Usage, format!("`--set {pair}` is not KEY=VALUE"))
            .hint("for example --set retrieval.max_inject=3; `heirloom config list` shows every key")),
    }
}

/// A process can set flags and variables for itself; it must not be able to loosen the gate that way. What is given is taken apart into
/// single settings first, and those that only a person may give are left out. A text that is JSON counts as that value.
fn only_a_person_loosens(
    pairs: impl IntoIterator<Item = (String, String)>,
    origin: Origin,
    pinned: bool,
    warnings: &mut Vec<settings::Warning>,
) -> Value {
    let mut person = None;
    let mut document = Map::new();
    for (name, text) in pairs {
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        let given = Value::Object(Map::from_iter([(name, value)]));
        let flat = settings::flatten(&given);
        let told = flat.unmapped.iter();
        warnings.extend(told.map(|unmapped| settings::Warning {
            name: unmapped.name.clone(),
            origin,
            message: unmapped.message.clone(),
        }));
        for name in &flat.categories {
            document.entry(format!("categories.{name}")).or_insert_with(|| Value::Object(Map::new()));
        }
        for (name, leaf) in flat.leaves {
            let guarded = settings::needs_person(leaf.key, leaf.value)
                || settings::BY_THEMSELVES.contains(&leaf.key.name);
            // Whether the person is checked is not for a call to say, and with the check on a terminal alone is not enough to loosen anything.
            let for_a_call = !pinned && leaf.key.name != PERSON_CHECK;
            if !guarded || for_a_call && *person.get_or_insert_with(crate::person::is_present) {
                document.insert(name, leaf.value.clone());
                continue;
            }
            let message = match for_a_call {
                true => "only a person at a terminal can set this for a call; the value is ignored",
                false => "this cannot be set for a call; set it in your own settings; the value is ignored",
            }
            .to_owned();
            warnings.push(settings::Warning { name, origin, message });
        }
    }
    Value::Object(document)
}

/// The user's own settings file.
pub(crate) fn user_settings_file() -> PathBuf {
    environment::config_folder().join("config.json")
}

/// A settings file's object; `None` if there is none. Only a text that is no JSON object is unusable as a whole.
pub(crate) fn read_document(path: &Path) -> std::result::Result<Option<Value>, String> {
    let bytes = match files::read_if_there(path, MAX_SETTINGS) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(fault) => return Err(format!("{}; the file is ignored", fault.message)),
    };
    match json::parse(&bytes) {
        Ok(value) if value.is_object() => Ok(Some(value)),
        Ok(_) => Err("expected an object; the file is ignored".to_owned()),
        Err(e) => Err(format!("not JSON ({e}); the file is ignored")),
    }
}

/// In debug builds `HEIRLOOM_TEST_DIE_AT` ends the process at the n-th step it reaches (1 is the first), as a power cut would. With 0 it goes
/// on and says every step on stderr.
pub(crate) fn install_test_steps() {
    #[cfg(debug_assertions)]
    if environment::text("HEIRLOOM_TEST_DIE_AT").is_some() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static REACHED: AtomicUsize = AtomicUsize::new(0);
        files::step::observe(|step| {
            let nth = REACHED.fetch_add(1, Ordering::Relaxed) + 1;
            match environment::text("HEIRLOOM_TEST_DIE_AT").and_then(|text| text.parse().ok()) {
                Some(0) => crate::output::Out::new(false).say(format!("step: {step}")),
                Some(last) if nth == last => {
                    let me = rustix::process::getpid();
                    let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
                }
                _ => {}
            }
        });
    }
}
