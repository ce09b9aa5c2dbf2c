//! Stress: many users in one deployment, reading, searching, changing and deleting with each other's ids mixed in.
//!
//! Comes in: `--users N --memories N --operations N`, and `--postgres` for a server of its own instead of SQLite. Goes out: the counts, and an error at
//! the first foreign row, at a refusal that the audit does not know or puts down to somebody else, or at a memory that is gone though nobody removed it.
//! On PostgreSQL everybody acts by a token of their own, which the database checks in every transaction.

use crate::report;
use crate::server::{Release, Server};
use heirloom_core::{Caller, Channel, Code, Fault, Grant, Scopes, Settings, Who, hash, time};
use heirloom_engine::gate::Entry;
use heirloom_engine::shelf::tiers::{
    Access, Action, Role, SqliteStore, Terms, TierStore, Tiers, Turn, UserContext, give_token, put_user,
    token_hash,
};
use heirloom_engine::{Call, Deployment, Project, World};
use heirloom_postgres::team::{Founding, Team};
use heirloom_postgres::{Address, Outside, PgStore};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const OWNER: Entry = Entry { channel: Channel::OwnerMessage, confirmed: false };

/// Memories written in one go.
const BATCH: usize = 1_000;

/// What the words are made of: three syllables each, so that there are as many words as people use.
const SYLLABLES: [&str; 16] = [
    "ka", "lo", "mi", "ru", "ten", "sol", "var", "dek", "pin", "gra", "hul", "bes", "tor", "nim", "fa", "quo",
];

/// How much of everything.
#[derive(Debug, Clone, Copy)]
struct Size {
    users: usize,
    memories: usize,
    operations: usize,
    postgres: bool,
}

pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let size = parsed(arguments)?;
    let folder = tempfile::tempdir_in("/tmp").map_err(|e| e.to_string())?;
    if !size.postgres {
        return mixed(Arc::new(SqliteStore::at(&folder.path().join("tiers"))), folder.path(), size);
    }
    let server = Server::start(Release::Eighteen, &["fsync=off", "shared_buffers=512MB", "max_wal_size=4GB"]);
    let store = PgStore::at(&set_up(&server, "stress")?).map_err(told)?;
    mixed(Arc::new(store), folder.path(), size)
}

fn parsed(arguments: &[&str]) -> Result<Size, String> {
    const USAGE: &str =
        "usage: stress tiers [--users N] [--memories N] [--operations N] [--postgres] [--debug]";
    let mut size = Size { users: 50, memories: 2_000, operations: 50_000, postgres: false };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|n| n.parse().ok()).filter(|n| *n > 0).ok_or(USAGE);
        match *word {
            "--users" => size.users = number()?,
            "--memories" => size.memories = number()?,
            "--operations" => size.operations = number()?,
            "--postgres" => size.postgres = true,
            // Without waiting for an optimised build: what must hold holds there too, only slower.
            "--debug" => {}
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(size)
}

/// The user that a shared database begins with, and that user's token.
const KEEPER: &str = "keeper";
pub(crate) const KEEPER_TOKEN: &str = "hlm_of_the_keeper_of_a_run";

/// A database that an operator set up; its address for the application.
pub(crate) fn set_up(server: &Server, name: &str) -> Result<String, String> {
    let address = Address::parse(&server.database(name), &Outside::default()).map_err(told)?;
    let founding = Founding {
        user: KEEPER.to_owned(),
        token_hash: token_hash(KEEPER_TOKEN),
        citus: false,
        app_role: None,
        now: time::parse("2026-01-01T00:00:00Z").unwrap_or_default(),
    };
    Team::at(&address).and_then(|team| team.init(&founding)).map_err(told)?;
    Ok(server.address("heirloom_app", name))
}

/// Who a user is: the account, or in a shared database the holder of a token of their own, which is made if there is none.
pub(crate) fn context(store: &dyn TierStore, world: &World) -> Result<UserContext, String> {
    if !store.is_shared() {
        return UserContext::by_account(world).map_err(told);
    }
    let token = format!("hlm_{}", hash::sha256(world.user.as_bytes()));
    if let Ok(who) = UserContext::by_token(store, &token, world.now) {
        return Ok(who);
    }
    let keeper = UserContext::by_token(store, KEEPER_TOKEN, world.now).map_err(told)?;
    put_user(store, &keeper, &world.user, world).map_err(told)?;
    let terms = Terms { scopes: Scopes::USUAL.with(Grant::Delete), ..Terms::default() };
    give_token(store, &keeper, &world.user, &token, &terms, world).map_err(told)?;
    UserContext::by_token(store, &token, world.now).map_err(told)
}

/// An engine for a user of a deployment.
pub(crate) fn engine(store: &Arc<dyn TierStore>, folder: &Path, user: &str) -> Result<Call, String> {
    engine_at(store, folder, user, "2026-03-01T12:00:00Z")
}

/// The same at another time: what is kept for a while must not be over when somebody looks.
pub(crate) fn engine_at(
    store: &Arc<dyn TierStore>,
    folder: &Path,
    user: &str,
    now: &str,
) -> Result<Call, String> {
    let world = World {
        now: time::parse(now).unwrap_or_default(),
        data: folder.join("data"),
        nonce: hash::sha256(user.as_bytes()),
        user: user.to_owned(),
    };
    let who = context(store.as_ref(), &world)?;
    let project = Project::new(folder, &folder.join("memory"), world);
    let caller = match who.token() {
        Some((id, scopes)) => Caller::process(user)
            .known_by(Who::Token { user: who.user().to_owned(), id: id.to_owned() }, scopes),
        None => Caller::process(user),
    };
    let access = Access::new(Arc::clone(store), who, &folder.join("data/tiers"));
    let call = Arc::new(Deployment::default()).call(project, Settings::standard(), caller);
    Ok(call.with_tiers(access))
}

/// The nth sentence, which many users may say alike: twelve words, the first of the vocabulary more often than the last.
pub(crate) fn sentence(n: usize) -> String {
    let mut dice = Dice(n as u64 ^ 0x9e37_79b9);
    let words: Vec<String> = (0..12)
        .map(|_| {
            let limit = dice.below(4_096) + 1;
            let word = dice.below(limit);
            [word % 16, word / 16 % 16, word / 256].map(|at| SYLLABLES[at]).concat()
        })
        .collect();
    words.join(" ")
}

/// Keeps so many turns of a user; their ids.
pub(crate) fn fill(tiers: &Tiers<'_>, count: usize) -> Result<Vec<String>, String> {
    let mut ids = Vec::with_capacity(count);
    for from in (0..count).step_by(BATCH) {
        let turns =
            (from..count.min(from + BATCH)).map(|n| (Turn::of(Role::User, sentence(n)), OWNER)).collect();
        for kept in tiers.add_episodes(turns).map_err(told)? {
            ids.push(kept.map_err(told)?.stored.id);
        }
    }
    Ok(ids)
}

pub(crate) fn told(fault: Fault) -> String {
    format!("{} [{}]", fault.message, fault.code.name())
}

/// A generator that gives the same numbers every time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new() -> Dice {
        Dice(1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// One user's side of the run.
struct Side {
    name: String,
    engine: Call,
    ids: Vec<String>,
    gone: Vec<bool>,
    refused: usize,
}

fn mixed(store: Arc<dyn TierStore>, folder: &Path, size: Size) -> Result<(), String> {
    let began = Instant::now();
    let mut sides = Vec::with_capacity(size.users);
    for n in 0..size.users {
        let name = format!("user-{n}");
        let engine = engine(&store, folder, &name)?;
        let ids = fill(&engine.tiers().map_err(told)?, size.memories)?;
        sides.push(Side { name, engine, gone: vec![false; ids.len()], ids, refused: 0 });
    }
    report::line(&format!(
        "{} users x {} memories on {}: {:.0} s",
        size.users,
        size.memories,
        store.backend(),
        began.elapsed().as_secs_f64()
    ));
    let began = Instant::now();
    let mut dice = Dice::new();
    let mut counts = [0usize; 4];
    let mut foreign = 0;
    for _ in 0..size.operations {
        let (me, whose) = (dice.below(size.users), dice.below(size.users));
        let (which, what) = (dice.below(size.memories), dice.below(4));
        counts[what] += 1;
        foreign += usize::from(what != 1 && whose != me);
        step(&mut sides, me, whose, which, what)?;
    }
    report::line(&format!(
        "{} operations ({} reads, {} searches, {} changes, {} deletions, {foreign} of them with somebody else's id): {:.0} s",
        size.operations,
        counts[0],
        counts[1],
        counts[2],
        counts[3],
        began.elapsed().as_secs_f64()
    ));
    settled(&sides, size)
}

/// One operation of `me` on a memory of `whose`.
fn step(sides: &mut [Side], me: usize, whose: usize, which: usize, what: usize) -> Result<(), String> {
    let id = sides[whose].ids[which].clone();
    let there = whose == me && !sides[me].gone[which];
    let tiers = sides[me].engine.tiers().map_err(told)?;
    let outcome = match what {
        0 => tiers.show(&id).map(|memory| memory.user),
        1 => {
            let found = tiers.search(&sentence(which), None, 5).map_err(told)?;
            return match found.iter().find(|hit| hit.memory.user != sides[me].name) {
                Some(hit) => {
                    Err(format!("{} found {} of {}", sides[me].name, hit.memory.id, hit.memory.user))
                }
                None => Ok(()),
            };
        }
        2 => tiers.set_days(&id, 30).map(|memory| memory.user),
        _ => tiers.delete(std::slice::from_ref(&id), "stress").map(|_| sides[me].name.clone()),
    };
    match outcome {
        Ok(user) if there && user == sides[me].name => {
            sides[me].gone[which] |= what == 3;
            Ok(())
        }
        Ok(user) => Err(format!("{} reached {id}, which is {user}'s", sides[me].name)),
        Err(fault) if fault.code == Code::NotFound && !there => {
            sides[me].refused += usize::from(whose != me);
            Ok(())
        }
        Err(fault) => Err(told(fault)),
    }
}

/// What must hold at the end: nobody lost anything to anybody else, and the audit knows every refusal.
fn settled(sides: &[Side], size: Size) -> Result<(), String> {
    let mut refused = 0;
    for side in sides {
        let tiers = side.engine.tiers().map_err(told)?;
        let removed = side.gone.iter().filter(|gone| **gone).count();
        let left = tiers.store().counts(tiers.who()).map_err(told)?.episodes;
        if left != (size.memories - removed) as u64 {
            return Err(format!("{} has {left} memories, not {}", side.name, size.memories - removed));
        }
        let lines = tiers.audit(usize::MAX, |line| line.action == Action::AccessRefused).map_err(told)?;
        let by = side.engine.caller().shown();
        if let Some(line) = lines.iter().find(|line| line.metadata.by.as_deref() != Some(&by)) {
            return Err(format!(
                "{}: a refusal is put down to {:?}, not to {by}",
                side.name, line.metadata.by
            ));
        }
        let lines = lines.len();
        if lines != side.refused {
            return Err(format!("{}: {} refusals, {lines} in the audit", side.name, side.refused));
        }
        tiers.verify_audit().map_err(told)?;
        refused += lines;
    }
    report::line(&format!(
        "no foreign row; {refused} refused attempts, each in the audit with who made it; every chain is whole"
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_few_users_never_meet() {
        super::run(&["--users", "6", "--memories", "60", "--operations", "1200"]).unwrap();
        assert!(super::run(&["--users", "none"]).is_err());
    }
}
