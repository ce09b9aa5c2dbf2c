//! The desk of the servers: calls for whoever comes, with the settings, the clock and the store of this moment.
//!
//! Comes in: a place and a visitor. Goes out: a call. What is worth keeping between calls is kept: compiled rules and models (a [`Deployment`] for
//! each model that settings name) and the store behind the tiers. Whoever comes through a server's door is a program; only the page that a person
//! opened at this terminal makes a person's calls, and the page of a server those of somebody who showed a token and then the PIN. Never here: a flag or
//! a token that makes a program a person.

use crate::args::Args;
use crate::endpoint::{self, Patience};
use crate::named::Named;
use crate::wiring::{self, PROJECT_SETTINGS, project_folder, random, world};
use crate::{environment, person};
use heirloom_core::settings::{Embedding, Gate, Loaded, Settings};
use heirloom_core::{Caller, Code, Fault, fault::Result};
use heirloom_engine::gate::fields;
use heirloom_engine::settings::{self, Said, Sources};
use heirloom_engine::shelf::tiers::{Access, TierStore, UserContext};
use heirloom_engine::verbs::commit;
use heirloom_engine::{Call, Deployment, Project, World};
use heirloom_server::{Desk, Place, Trial, Visitor};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Sets of what hangs on a model that are kept at once.
const KEPT: usize = 8;

/// What hangs on the model that settings name.
#[derive(Clone)]
struct Kept {
    named: Option<(Embedding, Gate)>,
    deployment: Arc<Deployment>,
    store: Arc<dyn TierStore>,
}

/// The desk of a process.
pub(crate) struct Office {
    named: Result<Named>,
    sources: Sources,
    /// The same for the person who opened the page; nothing where nobody did.
    of_person: Option<Sources>,
    first: Deployment,
    kept: Mutex<Vec<Kept>>,
}

impl Office {
    /// The desk of a page that a person opened at this terminal; nobody else is given one.
    pub(crate) fn of_person(args: &Args) -> Result<Arc<Office>> {
        if !person::is_present() {
            return Err(Fault::new(Code::NeedsPerson, "only a person opens the page")
                .hint("run it yourself, in a terminal of your own"));
        }
        Ok(Arc::new(Office { of_person: Some(wiring::sources(args)?), ..Office::made(args)? }))
    }

    /// A desk for what was typed.
    pub(crate) fn open(args: &Args) -> Result<Arc<Office>> {
        Office::made(args).map(Arc::new)
    }

    fn made(args: &Args) -> Result<Office> {
        // What a program asks for does not loosen what a person set, whoever started the server.
        let sources = Sources { person: false, ..wiring::sources(args)? };
        let first = Deployment::new(environment::home())
            .with_dice(random)
            .with_user_settings(sources.user_file.clone());
        let named = Named::of(args.database.as_deref(), args.token_file.as_deref());
        Ok(Office { named, sources, of_person: None, first, kept: Mutex::default() })
    }

    fn named(&self) -> Result<&Named> {
        self.named.as_ref().map_err(Clone::clone)
    }

    fn kept(&self, settings: &Settings, world: &World) -> Result<Kept> {
        let named = settings.embedding.clone().map(|embedding| (embedding, settings.gate.clone()));
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter().find(|kept| kept.named == named) {
            return Ok(known.clone());
        }
        let model = named
            .as_ref()
            .map(|(named, gate)| endpoint::embedder(named, gate, Patience::Nobody, &world.data));
        let store = wiring::opened(self.named()?, world, model.clone(), wiring::Wait::Server)?;
        let kept = Kept { named, deployment: Arc::new(self.first.beside(model)), store };
        if all.len() == KEPT {
            all.remove(0);
        }
        all.push(kept.clone());
        Ok(kept)
    }

    /// Whose turns and facts a visitor reaches; `None` for a process of the account while the store cannot be reached, which has the files all the
    /// same. Whoever shows a token is nobody until the store says who: without it there is no answer at all.
    fn access(&self, kept: &Kept, who: &Visitor, world: &World) -> Result<Option<Access>> {
        let Some(token) = &who.token else {
            // A server on a shared database needs no token of its own: whoever comes brings one, and files are served without.
            if kept.store.is_shared() && self.named()?.token().is_none() {
                return Ok(None);
            }
            return match wiring::access_to(self.named()?, world, Arc::clone(&kept.store)) {
                Err(fault) if fault.code == Code::Unauthenticated => Err(fault),
                access => {
                    Ok(access.ok().map(|access| access.of(access.who().clone().traced(who.trace.as_deref()))))
                }
            };
        };
        let user = UserContext::by_token(kept.store.as_ref(), token, world.now)?.traced(who.trace.as_deref());
        Ok(Some(Access::new(Arc::clone(&kept.store), user, &world.data.join("tiers"))))
    }
}

impl Office {
    /// A call for a place, by whoever `access` and `caller` say.
    fn call_by(
        &self,
        place: &Place,
        sources: &Sources,
        access: impl FnOnce(&Kept, &World) -> Result<Option<Access>>,
        caller: impl FnOnce(&World, &Settings, Option<&Access>) -> Caller,
    ) -> Result<Call> {
        let world = world();
        let around = match place {
            Place::Folder(folder) if !folder.is_dir() => {
                return Err(Fault::new(Code::NotFound, "the project folder no longer exists")
                    .hint("start the server again, in the project as it is now"));
            }
            Place::Folder(folder) => Some(project_folder(folder)),
            Place::Nowhere => None,
        };
        let folder = around.as_deref().unwrap_or(Path::new("/dev/null"));
        let Loaded { settings, values, warnings } =
            settings::load(sources, folder, &folder.join(PROJECT_SETTINGS), &world);
        let kept = self.kept(&settings, &world)?;
        let access = access(&kept, &world)?;
        let caller = caller(&world, &settings, access.as_ref());
        let project = match &around {
            Some(folder) => {
                let root = settings::memory_root(folder, &settings, environment::home().as_deref());
                Project::new(folder, &root, world)
            }
            None => Project::nowhere(world),
        };
        let call = kept.deployment.call(project, settings, caller).with_said(Said { values, warnings });
        let call = match access {
            Some(access) => call.with_tiers(access),
            None => call,
        };
        if around.is_some() {
            settings::stays_inside(&call)?;
            settings::is_wanted(&call)?;
        }
        commit::begin(&call);
        Ok(call)
    }
}

impl Desk for Office {
    fn call(&self, place: &Place, who: &Visitor) -> Result<Call> {
        let agent = who.agent.as_deref();
        agent.map_or(Ok(()), |name| fields::name("agent", name))?;
        self.call_by(
            place,
            &self.sources,
            |kept, world| self.access(kept, who, world),
            |world, settings, access| person::visitor(&world.user, settings, access, agent),
        )
    }

    fn person(&self, place: &Place, trial: &Trial) -> Result<Call> {
        let Some(sources) = &self.of_person else {
            return Err(Fault::new(Code::NeedsPerson, "nobody opened a page here")
                .hint("run `heirloom open` yourself, in a terminal of your own"));
        };
        let agent = trial.agent.as_deref();
        agent.map_or(Ok(()), |name| fields::name("agent", name))?;
        let mut sources = sources.clone();
        sources.flags.extend(trial.settings.iter().cloned());
        self.call_by(
            place,
            &sources,
            |kept, world| match wiring::access_to(self.named()?, world, Arc::clone(&kept.store)) {
                Err(fault) if fault.code == Code::Unauthenticated => Err(fault),
                access => Ok(access.ok()),
            },
            |world, settings, access| person::opener(&world.user, settings, access, agent),
        )
    }

    fn confirmed(&self, who: &Visitor) -> Result<Call> {
        if who.token.is_none() {
            return Err(Fault::new(Code::Unauthenticated, "a person signs in with a token here")
                .hint("sign in at the page of the server"));
        }
        self.call_by(
            &Place::Nowhere,
            &self.sources,
            |kept, world| self.access(kept, who, world),
            |world, settings, access| person::guest(&world.user, settings, access),
        )
    }

    fn ready(&self) -> Result<()> {
        let (world, nowhere) = (world(), Path::new("/dev/null"));
        let loaded = settings::load(&self.sources, nowhere, &nowhere.join(PROJECT_SETTINGS), &world);
        self.kept(&loaded.settings, &world)?.store.reach()
    }

    fn now(&self) -> jiff::Timestamp {
        crate::world::now()
    }
}
