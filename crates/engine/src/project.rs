//! A project: where its memory lives, and what this user's data folder knows about it.
//!
//! Comes in: the project folder, the memory root, the user's data folder. Goes out: paths and the machine-local folder.
//! Never here: an id read from the repository; a copied id must not open another project's data, so a project is known by
//! where its git directory is, and clones of it by their first commit.

use crate::files::{self, Changed, Holder, Local, Mode, Root};
use crate::git::{self, First};
use heirloom_core::{Fault, fault::Result, hash};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// What the outside world gives: read once by the command line, used everywhere below.
#[derive(Debug, Clone)]
pub struct World {
    /// Now.
    pub now: jiff::Timestamp,
    /// `$XDG_DATA_HOME/heirloom`: what belongs to the user and to no project.
    pub data: PathBuf,
    /// Sixteen random bytes of this call, as hex.
    pub nonce: String,
    /// The operating system's account.
    pub user: String,
}

impl World {
    /// A name that nobody else uses: the nonce and a number, since one call may need several.
    pub fn unique(&self) -> String {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        format!("{}-{}", self.nonce, COUNTER.fetch_add(1, Ordering::Relaxed))
    }
}

/// The folder of no project: nothing is there, and not even root can make it.
const NOWHERE: &str = "/proc/no-project";

/// Longest name that is read from a file of the data folder.
const MAX_NAME: u64 = 256;

/// Ending of the file that says which other clone's folder a place shares.
const SAME_AS: &str = ".same-as";

/// Mark of a place that had no commit yet when it became known.
const NO_HISTORY: &str = "no-history";

/// Mark of a place where this account has only looked so far. Version 0.1 made none, so whatever it knew counts as used.
const ONLY_LOOKED: &str = "only-looked";

/// A project and its memory folder.
#[derive(Debug)]
pub struct Project {
    folder: PathBuf,
    root: Root,
    world: World,
    real: OnceLock<PathBuf>,
    git: OnceLock<Option<git::Place>>,
    local: OnceLock<Local>,
    data: OnceLock<PathBuf>,
    store_name: OnceLock<String>,
    held: Holder,
    changed: OnceLock<Arc<Changed>>,
}

impl Project {
    /// The project at `folder`, with its memory below `root`. Nothing is touched until something is needed.
    pub fn new(folder: &Path, root: &Path, world: World) -> Project {
        Project {
            folder: folder.to_owned(),
            root: Root::new(root),
            world,
            real: OnceLock::new(),
            git: OnceLock::new(),
            local: OnceLock::new(),
            data: OnceLock::new(),
            store_name: OnceLock::new(),
            held: Holder::default(),
            changed: OnceLock::new(),
        }
    }

    /// No project: what belongs to users alone can be asked for. Nothing is found here and nothing can be written.
    pub fn nowhere(world: World) -> Project {
        Project::new(Path::new(NOWHERE), &Path::new(NOWHERE).join("memory"), world)
    }

    /// Whether this is no project.
    pub fn is_nowhere(&self) -> bool {
        self.folder == Path::new(NOWHERE)
    }

    /// What a project is called where its path is nobody's business: the same as long as its memory stays where it is.
    pub fn id(&self) -> &str {
        self.store_name()
    }

    /// The project folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The project folder with links resolved; as it was named if it is not there.
    pub fn real(&self) -> &Path {
        self.real.get_or_init(|| std::fs::canonicalize(&self.folder).unwrap_or_else(|_| self.folder.clone()))
    }

    /// The work tree around the project folder and the git directory its worktrees share.
    fn git(&self) -> Option<&git::Place> {
        self.git.get_or_init(|| git::Place::around(self.real())).as_ref()
    }

    /// The memory folder.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Now, the user, the nonce.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// A path below the project as index lines and answers show it.
    pub fn shown(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.folder).or_else(|_| path.strip_prefix(self.real()));
        inner.unwrap_or(path).to_string_lossy().replace('\\', "/")
    }

    /// The user's folder for this project.
    pub fn data(&self) -> Result<&Path> {
        if let Some(path) = self.data.get() {
            return Ok(path);
        }
        let path = self.find_data()?;
        Ok(self.data.get_or_init(|| path))
    }

    /// The machine-local folder, made if it is not there.
    pub fn local(&self) -> Result<&Local> {
        if let Some(local) = self.local.get() {
            return Ok(local);
        }
        let local = match self.known_local()? {
            Some(local) => local,
            None if self.is_read_only() => Local::elsewhere(self.data()?.join("local"))?,
            None => self.make_local()?,
        };
        Ok(self.local.get_or_init(|| local))
    }

    fn known_local(&self) -> Result<Option<Local>> {
        let mark = files::read_if_there(&self.mark_path()?, MAX_NAME)?;
        let mark = mark.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(mark.and_then(|mark| Local::known(self.root.folder(), &mark)))
    }

    /// The first use of this store on this machine. One process at a time: two that made different marks would each set the
    /// other's folder aside, and the lock in it.
    fn make_local(&self) -> Result<Local> {
        let _turn = files::Lock::acquire(&self.data()?.join("lock"), files::LOCK_LIMIT)?;
        if let Some(local) = self.known_local()? {
            return Ok(local);
        }
        files::make_folder(self.root.folder(), Mode::Shared)?;
        let mark = self.mark()?;
        let aside = format!(".local.set-aside-{}-{}", self.world.now.as_second(), self.world.nonce);
        Local::open(self.root.folder(), &mark, &aside)
    }

    /// Whether nothing can be written beside the memories: a read-only checkout can still be read, with an index in the user's own folder.
    pub fn is_read_only(&self) -> bool {
        let folder = self.root.folder();
        folder.is_dir()
            && matches!(
                rustix::fs::access(folder, rustix::fs::Access::WRITE_OK),
                Err(rustix::io::Errno::ROFS | rustix::io::Errno::ACCESS)
            )
    }

    /// Whether there is a machine-local folder already, so that reading commands need not make one.
    pub fn has_local(&self) -> bool {
        self.root.folder().join(".local").is_dir()
    }

    /// The folder of what went wrong without stopping anybody. Version 0.1 could leave a file in its place, which is kept inside.
    pub fn health(&self) -> Result<PathBuf> {
        let folder = self.local()?.path("health");
        if folder.is_file() {
            let aside = self.local()?.path(&format!("health-{}", self.world.unique()));
            files::rename(&folder, &aside)?;
            files::make_folder(&folder, Mode::Private)?;
            files::rename(&aside, &folder.join("external.jsonl"))?;
        }
        files::make_folder(&folder, Mode::Private)?;
        Ok(folder)
    }

    /// Waits for the store's lock.
    pub fn lock(&self) -> Result<files::Lock> {
        if let Some(lock) = self.held.again() {
            return Ok(lock);
        }
        let lock = files::Lock::acquire(&self.local()?.path("lock"), files::LOCK_LIMIT)?;
        self.held.by(&lock);
        Ok(lock.keeping(self.changed.get().cloned()))
    }

    /// Begins to keep the paths that change under this project's lock.
    pub fn keep_changed(&self) {
        self.changed.get_or_init(Arc::default);
    }

    /// The paths that changed since they were last asked for.
    pub fn take_changed(&self) -> Vec<PathBuf> {
        self.changed.get().map(|changed| changed.take()).unwrap_or_default()
    }

    /// The mark of this memory folder on this machine: by its real place, so that a copied folder is a stranger.
    fn mark_path(&self) -> Result<PathBuf> {
        Ok(self.data()?.join(format!("mark-{}", self.store_name())))
    }

    /// What this memory folder is known by among those that share a data folder (clones, work trees): its real place.
    pub(crate) fn store_name(&self) -> &str {
        self.store_name
            .get_or_init(|| hash::sha256(self.root.real().as_os_str().as_encoded_bytes())[..16].to_owned())
    }

    fn mark(&self) -> Result<String> {
        let path = self.mark_path()?;
        if let Some(bytes) = files::read_if_there(&path, MAX_NAME)? {
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        files::write(&path, self.world.nonce.as_bytes(), Mode::Private)?;
        Ok(self.world.nonce.clone())
    }

    /// The user's folder for this project if there is one; reading makes nothing.
    pub fn known_data(&self) -> Result<Option<PathBuf>> {
        match self.data.get() {
            Some(path) => Ok(Some(path.clone())),
            None if self.is_nowhere() => Ok(None),
            None => known_data(&self.projects(), &self.own_name()),
        }
    }

    /// Whether this account has begun this memory or saved something in it, here or in another clone that shares what is known.
    pub fn is_used(&self) -> bool {
        self.known_data().ok().flatten().is_some_and(|data| !data.join(ONLY_LOOKED).exists())
    }

    /// From now on this account has used this memory.
    pub fn note_used(&self) -> Result<()> {
        let mark = self.data()?.join(ONLY_LOOKED);
        match std::fs::remove_file(&mark) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(&mark, "remove", &e)),
            _ => Ok(()),
        }
    }

    fn projects(&self) -> PathBuf {
        self.world.data.join("projects")
    }

    fn own_name(&self) -> String {
        hash::sha256(self.identity().as_os_str().as_encoded_bytes())[..24].to_owned()
    }

    fn find_data(&self) -> Result<PathBuf> {
        if self.is_nowhere() {
            return Err(no_project());
        }
        let (projects, own) = (self.projects(), self.own_name());
        if let Some(path) = known_data(&projects, &own)? {
            if path.join(NO_HISTORY).exists() {
                self.note_history(&projects, &path)?;
            }
            return Ok(path);
        }
        files::make_folder(&projects, Mode::Private)?;
        // One process at a time: a place that two found new at once must not be known by two folders.
        let _turn = files::Lock::acquire(&projects.join("lock"), files::LOCK_LIMIT)?;
        match known_data(&projects, &own)? {
            Some(path) => Ok(path),
            None => self.join_clones(&projects, &projects.join(own)),
        }
    }

    /// A new place: if another clone of the same history is known, both share what is known of it.
    fn join_clones(&self, projects: &Path, own: &Path) -> Result<PathBuf> {
        let new = || {
            files::make_folder(own, Mode::Private)?;
            files::write_passing(&own.join(ONLY_LOOKED), b"")?;
            Ok(own.to_owned())
        };
        let first_commit = match self.first_commit() {
            First::Commit(name) => name,
            First::Unreadable => return new(),
            First::None => {
                let folder = new()?;
                files::write(&folder.join(NO_HISTORY), b"", Mode::Private)?;
                return Ok(folder);
            }
        };
        let history = history_file(projects, &first_commit);
        let own_name = own.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        match files::read_text(&history, MAX_NAME)? {
            Some(known) if projects.join(known.trim()).is_dir() => {
                let pointer = projects.join(format!("{own_name}{SAME_AS}"));
                files::write(&pointer, known.trim().as_bytes(), Mode::Private)?;
                Ok(projects.join(known.trim()))
            }
            _ => {
                files::write(&history, own_name.as_bytes(), Mode::Private)?;
                new()
            }
        }
    }

    /// A place that was known before its first commit: as soon as there is one, clones find it by that.
    fn note_history(&self, projects: &Path, own: &Path) -> Result<()> {
        let found = self.first_commit();
        if found == First::None {
            return Ok(());
        }
        let _turn = files::Lock::acquire(&projects.join("lock"), files::LOCK_LIMIT)?;
        if let First::Commit(first_commit) = found {
            let history = history_file(projects, &first_commit);
            if !history.exists() {
                let own_name = own.file_name().unwrap_or_default().to_string_lossy();
                files::write(&history, own_name.as_bytes(), Mode::Private)?;
            }
        }
        files::remove(&own.join(NO_HISTORY))
    }

    /// The git directory that all worktrees share plus the memory folder's place in the work tree; without git, the memory
    /// folder's own place.
    fn identity(&self) -> PathBuf {
        match self.git() {
            Some(git) => {
                git.common.join(self.root.real().strip_prefix(&git.work_tree).unwrap_or(self.root.real()))
            }
            None => self.root.real().to_owned(),
        }
    }

    /// The project folder and, if it is a work tree of a repository that lies elsewhere, the folder in its place there.
    pub fn work_trees(&self) -> Vec<PathBuf> {
        let own = self.real().to_owned();
        let main = self.git().and_then(|git| {
            let inside = own.strip_prefix(&git.work_tree).ok()?;
            let main = git.common.parent().filter(|_| git.common.ends_with(".git"))?;
            // Joining nothing would end the path in a slash.
            Some(if inside.as_os_str().is_empty() { main.to_owned() } else { main.join(inside) })
        });
        let mut all = vec![own];
        all.extend(main.filter(|main| *main != all[0]));
        all
    }

    /// Read from git's files: this runs at the first prompt in a folder that nobody here has looked at yet.
    fn first_commit(&self) -> First {
        self.git().map_or(First::None, git::first_commit)
    }

    /// The file in which this user's word for this place is kept. It belongs to the place, not to its history: a stranger's clone of the
    /// same history is another place.
    pub fn approvals(&self) -> PathBuf {
        self.projects().join(format!("{}.approved.json", self.own_name()))
    }
}

/// Where the folder of a history is named.
fn history_file(projects: &Path, first_commit: &str) -> PathBuf {
    projects.join(format!("history-{}", &hash::sha256(first_commit.as_bytes())[..24]))
}

/// The folder of a place, or the one of another clone that it points to.
fn known_data(projects: &Path, own: &str) -> Result<Option<PathBuf>> {
    if let Some(other) = files::read_text(&projects.join(format!("{own}{SAME_AS}")), MAX_NAME)? {
        return Ok(Some(projects.join(other.trim())));
    }
    let folder = projects.join(own);
    Ok(folder.is_dir().then_some(folder))
}

impl Project {
    /// An error where there is no project to write into.
    pub(crate) fn expect_somewhere(&self) -> heirloom_core::fault::Result<()> {
        if self.is_nowhere() { Err(no_project()) } else { Ok(()) }
    }

    /// An error where there is no memory folder: nothing is not the same as nothing wrong.
    pub fn expect_memory(&self) -> heirloom_core::fault::Result<()> {
        self.expect_somewhere()?;
        let root = self.root().folder();
        if root.is_dir() { Ok(()) } else { Err(no_memory(root)) }
    }
}

/// A fault for what only a project has.
fn no_project() -> Fault {
    Fault::new(heirloom_core::Code::NotFound, "no project is served here, only turns and facts")
        .hint("name a project that this server serves, or save it as a fact")
}

/// A fault for a project that has no memory folder.
pub fn no_memory(root: &Path) -> Fault {
    Fault::new(heirloom_core::Code::NotFound, format!("there is no memory folder at `{}`", root.display()))
        .fact("path", root.display().to_string())
        .hint("run `heirloom init` in the project folder")
}
