//! The composition root: from arguments, environment and files to a [`Call`].
//!
//! Comes in: where the user is and what they said. Goes out: a call on the project, with its settings and where each of them comes
//! from. Never below this crate: reading any of it.

use crate::args::{Args, Command, ConfigAction};
use crate::endpoint::{self, Patience};
use crate::environment;
use crate::named::Named;
use heirloom_core::settings::{Loaded, Origin, Warning};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::budget::Budget;
use heirloom_engine::gate::fields;
use heirloom_engine::index::embed::chosen::Given;
use heirloom_engine::settings::{self, Said, Sources};
use heirloom_engine::shelf::tiers::{Access, SqliteStore, TierStore, Tiers, UserContext};
use heirloom_engine::verbs::{commit, trail};
use heirloom_engine::{Call, Deployment, PassedOver, Project, Uncommitted, World};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub(crate) use crate::world::{random, world};
pub(crate) use heirloom_engine::settings::{DEFAULT_ROOT, PROJECT_SETTINGS, project_folder};

/// A call and what was found on the way to it.
pub(crate) struct Wired {
    pub(crate) call: Call,
    pub(crate) cwd: PathBuf,
    /// Why the tiers cannot be reached, if they cannot. Everything else works without them.
    signed_out: Option<Fault>,
}

impl AsMut<Call> for Wired {
    fn as_mut(&mut self) -> &mut Call {
        &mut self.call
    }
}

impl Wired {
    /// The same within the bounds of a hook.
    pub(crate) fn within(mut self, budget: Budget) -> Wired {
        self.call = self.call.within(budget);
        self
    }

    /// What of the settings could not be used.
    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.call.said().warnings
    }

    /// Why the tiers are left out, if they are.
    pub(crate) fn left_out(&self) -> Option<&Fault> {
        self.signed_out.as_ref()
    }

    /// Why no user is signed in, if the settings name an endpoint that needs somebody.
    pub(crate) fn tiers_if_named(&self) -> Result<()> {
        match self.call.settings().extraction {
            Some(_) => self.tiers().map(|_| ()),
            None => Ok(()),
        }
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
    // A token is looked at before anything is opened.
    let named = Named::of(args.database.as_deref(), args.token_file.as_deref())?;
    access_by(&named, world, opened(&named, world, model, wait(args))?)
}

/// The same for a store that is open already.
#[cfg(feature = "server")]
pub(crate) fn access_to(named: &Named, world: &World, store: Arc<dyn TierStore>) -> Result<Access> {
    access_by(named, world, store)
}

fn access_by(named: &Named, world: &World, store: Arc<dyn TierStore>) -> Result<Access> {
    let who = match named.token() {
        // The account of an operating system says nothing to a database that several machines use.
        None if store.is_shared() => return Err(nobody()),
        None => UserContext::by_account(world)?,
        Some(token) => UserContext::by_token(store.as_ref(), token, world.now)?,
    };
    Ok(Access::new(store, who, &world.data.join("tiers")))
}

fn nobody() -> Fault {
    Fault::new(Code::Unauthenticated, "a shared database needs a token to know who you are").hint(
        "ask its administrator for a token (`heirloom user token NAME`), then set HEIRLOOM_TOKEN or give --token-file",
    )
}

/// Who waits for a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Somebody at a prompt.
    Prompt,
    /// A coding agent at any other moment.
    Hook,
    /// A command.
    Command,
    /// A server.
    #[cfg(feature = "server")]
    Server,
}

fn wait(args: &Args) -> Wait {
    match &args.command {
        Command::Hook(hook) if hook.moment == "prompt" => Wait::Prompt,
        Command::Hook(_) => Wait::Hook,
        _ => Wait::Command,
    }
}

/// The store of turns and facts: in the user's data folder, or in the database that was named.
pub(crate) fn opened(
    named: &Named,
    world: &World,
    model: Option<Given>,
    wait: Wait,
) -> Result<Arc<dyn TierStore>> {
    match &named.database {
        None => Ok(Arc::new(SqliteStore::at(&world.data.join("tiers")).with_model(model))),
        Some(address) => {
            let store = postgres(address, world, model, wait)?;
            // Without a token nothing is asked of it; whoever comes to a server brings one.
            if named.token().is_none() && !serves(wait) { Err(nobody()) } else { Ok(store) }
        }
    }
}

fn serves(wait: Wait) -> bool {
    !matches!(wait, Wait::Prompt | Wait::Hook | Wait::Command)
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
fn postgres(address: &str, world: &World, model: Option<Given>, wait: Wait) -> Result<Arc<dyn TierStore>> {
    use heirloom_postgres::{Address, Limits, PgStore};
    let store = PgStore::to(Address::parse(address, &outside())?)?.with_model(model, &world.data).within(
        match wait {
            Wait::Prompt => Limits::PROMPT,
            Wait::Hook => Limits::HOOK,
            Wait::Command => Limits::COMMAND,
            #[cfg(feature = "server")]
            Wait::Server => Limits::SERVER,
        },
    );
    let store: Arc<dyn TierStore> = Arc::new(store);
    let _ = REACHED_FOR.set(store.clone());
    Ok(store)
}

/// What the environment says about a database, in libpq's words.
#[cfg(feature = "postgres")]
pub(crate) fn outside() -> heirloom_postgres::Outside {
    heirloom_postgres::Outside {
        password: environment::text("PGPASSWORD"),
        password_file: environment::file_or("PGPASSFILE", ".pgpass"),
        service: environment::text("PGSERVICE"),
        service_file: environment::file_or("PGSERVICEFILE", ".pg_service.conf"),
        more_certificates: environment::text("SSL_CERT_FILE").map(PathBuf::from),
    }
}

/// Whether an address on the command line holds a password, which other accounts see.
#[cfg(feature = "postgres")]
pub(crate) fn shows_password(address: &str) -> bool {
    heirloom_postgres::Address::parse(address, &outside()).is_ok_and(|address| address.says_password())
}

#[cfg(not(feature = "postgres"))]
pub(crate) fn shows_password(_address: &str) -> bool {
    false
}

/// The database of this process.
static REACHED_FOR: OnceLock<Arc<dyn TierStore>> = OnceLock::new();

/// Why the database could not be reached, if it could not.
pub(crate) fn unreached() -> Option<Fault> {
    REACHED_FOR.get()?.unreached()
}

#[cfg(not(feature = "postgres"))]
fn postgres(
    _address: &str,
    _world: &World,
    _model: Option<Given>,
    _wait: Wait,
) -> Result<Arc<dyn TierStore>> {
    Err(Fault::new(Code::Usage, "this build of Heirloom cannot reach PostgreSQL")
        .hint("use a build with the feature `postgres`, or leave --database and HEIRLOOM_DATABASE_URL out"))
}

/// Where the command was started.
pub(crate) fn cwd(args: &Args) -> Result<PathBuf> {
    let here = environment::current_folder()
        .map_err(|e| Fault::new(Code::Io, format!("cannot find the current folder: {e}")))?;
    match &args.project {
        None => Ok(here),
        Some(folder) => {
            let folder = here.join(folder);
            if folder.is_dir() {
                Ok(folder)
            } else {
                Err(Fault::new(Code::Usage, format!("`{}` is not a folder", folder.display()))
                    .hint("give an existing project folder with --project"))
            }
        }
    }
}

/// A call for the project the user is in.
pub(crate) fn wire(args: &Args) -> Result<Wired> {
    let cwd = cwd(args)?;
    wire_around(args, &cwd)
}

/// A call for the project around a folder.
pub(crate) fn wire_around(args: &Args, cwd: &Path) -> Result<Wired> {
    wire_at(args, &project_folder(cwd), None, cwd.to_owned())
}

/// A call for a project folder; `root` overrides where its memory is (then its settings are taken from there).
pub(crate) fn wire_at(args: &Args, folder: &Path, root: Option<&Path>, cwd: PathBuf) -> Result<Wired> {
    let wired = unchecked(args, folder, root, cwd)?;
    if root.is_none() {
        settings::stays_inside(&wired.call)?;
        settings::is_wanted(&wired.call)?;
    }
    Ok(wired)
}

/// The same for whoever only reads and changes settings: those must work where other files lie in the memory folder. A link in its place is
/// refused to them as well, unless the user's own settings are what is changed.
pub(crate) fn wire_for_settings(args: &Args) -> Result<Wired> {
    let cwd = cwd(args)?;
    let wired = unchecked(args, &project_folder(&cwd), None, cwd)?;
    if !of_the_user(&args.command) {
        settings::stays_inside(&wired.call)?;
    }
    Ok(wired)
}

/// Whether a command changes nothing but the user's own settings.
fn of_the_user(command: &Command) -> bool {
    if let Command::Setup(setup) = command {
        return !setup.shared;
    }
    let Command::Config(config) = command else { return false };
    matches!(config.action, ConfigAction::Set { user: true, .. } | ConfigAction::Unset { user: true, .. })
}

fn unchecked(args: &Args, folder: &Path, root: Option<&Path>, cwd: PathBuf) -> Result<Wired> {
    let settings_file = match root {
        Some(root) => root.join("memory-config.json"),
        None => folder.join(PROJECT_SETTINGS),
    };
    let world = world();
    let home = environment::home();
    let sources = sources(args)?;
    let Loaded { settings, values, warnings } = settings::load(&sources, folder, &settings_file, &world);
    let mut said = Said { values, warnings };
    let root = root.map_or_else(|| settings::memory_root(folder, &settings, home.as_deref()), Path::to_owned);
    let endpoint = settings
        .embedding
        .as_ref()
        .map(|named| endpoint::embedder(named, &settings.gate, patience(args), &world.data));
    let access = access(args, &world, endpoint.clone());
    let project = Project::new(folder, &root, world);
    let deployment =
        Deployment::new(home).with_model(endpoint).with_dice(random).with_user_settings(sources.user_file);
    // The audit says who acted.
    args.command.agent().map_or(Ok(()), |name| fields::name("agent", name))?;
    let caller =
        crate::person::caller(&project.world().user, &settings, access.as_ref().ok(), args.command.agent());
    let call = Arc::new(deployment).call(project, settings, caller);
    let (call, signed_out) = match access {
        Ok(access) => (call.with_tiers(access), None),
        Err(fault) if fault.code == Code::Unauthenticated && !goes_on_signed_out(&args.command) => {
            // Nothing is done, whether or not the audit can be written.
            let _ = trail::turned_away(&call, 1);
            return Err(fault);
        }
        // A server that cannot be reached is said once, when the command is done.
        Err(fault) if fault.code == Code::Unavailable => (call.without_tiers(fault.clone()), Some(fault)),
        Err(fault) => {
            let message = format!("left out: {}", fault.message);
            said.warnings.push(Warning { name: "tiers".to_owned(), origin: Origin::Environment, message });
            (call.without_tiers(fault.clone()), Some(fault))
        }
    };
    let call = call.with_said(said);
    if !matches!(args.command, Command::Hook(_)) {
        met().push(Arc::clone(call.passed_over()));
        locked(&UNCOMMITTED).push(Arc::clone(call.uncommitted()));
    }
    if !matches!(args.command, Command::Hook(_) | Command::Record(_)) && call.project().is_read_only() {
        READ_ONLY.store(true, Ordering::Relaxed);
    }
    commit::begin(&call);
    Ok(Wired { call, cwd, signed_out })
}

/// Whether a call of this process met a memory that cannot be written.
static READ_ONLY: AtomicBool = AtomicBool::new(false);

/// Whether the memory can only be read.
pub(crate) fn is_read_only() -> bool {
    READ_ONLY.load(Ordering::Relaxed)
}

/// What the calls of this process passed over.
static MET: Mutex<Vec<Arc<PassedOver>>> = Mutex::new(Vec::new());

fn met() -> MutexGuard<'static, Vec<Arc<PassedOver>>> {
    locked(&MET)
}

fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Commits that the calls of this process could not make.
static UNCOMMITTED: Mutex<Vec<Arc<Uncommitted>>> = Mutex::new(Vec::new());

/// Why commits that the settings ask for were not made, a line each.
pub(crate) fn uncommitted() -> Vec<String> {
    locked(&UNCOMMITTED).drain(..).flat_map(|one| one.all()).collect()
}

/// Files that a command of this process passed over because they hold no memory, each with why.
pub(crate) fn passed_over() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = met().drain(..).flat_map(|one| one.all()).collect();
    all.sort();
    all.dedup();
    all
}

/// Where this call's settings come from.
pub(crate) fn sources(args: &Args) -> Result<Sources> {
    Ok(Sources {
        flags: args.set.iter().map(|pair| setting_of(pair)).collect::<Result<_>>()?,
        environment: environment::settings(),
        user_file: user_settings_file(),
        person: crate::person::is_present(),
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

/// `KEY=VALUE` of `--set`.
fn setting_of(pair: &str) -> Result<(String, String)> {
    match pair.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Fault::new(Code::Usage, format!("`--set {pair}` is not KEY=VALUE"))
            .hint("for example --set retrieval.max_inject=3; `heirloom config list` shows every key")),
    }
}

/// The user's own settings file.
pub(crate) fn user_settings_file() -> PathBuf {
    environment::config_folder().join("config.json")
}

/// In debug builds `HEIRLOOM_TEST_DIE_AT` ends the process at the n-th step it reaches (1 is the first), as a power cut would. With 0 it goes
/// on and says every step on stderr.
pub(crate) fn install_test_steps() {
    #[cfg(debug_assertions)]
    if environment::text("HEIRLOOM_TEST_DIE_AT").is_some() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static REACHED: AtomicUsize = AtomicUsize::new(0);
        heirloom_engine::files::step::observe(|step| {
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
