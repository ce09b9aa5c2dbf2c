//! The desk of the servers: calls for whoever comes, with the settings, the clock and the store of this moment.
//!
//! Comes in: a place and a visitor. Goes out: a call. What is worth keeping between calls is kept: compiled rules and models (a [`Deployment`] for
//! each model that settings name) and the store behind the tiers. Never here: a person. Whoever comes through a server's door is a program.

use crate::args::Args;
use crate::endpoint::{self, Patience};
use crate::named::Named;
use crate::wiring::{self, PROJECT_SETTINGS, project_folder, random, world};
use crate::{environment, person};
use heirloom_core::settings::{Embedding, Gate, Loaded, Settings};
use heirloom_core::{Code, Fault, fault::Result};
use heirloom_engine::gate::fields;
use heirloom_engine::settings::{self, Said, Sources};
use heirloom_engine::shelf::tiers::{Access, TierStore, UserContext};
use heirloom_engine::verbs::commit;
use heirloom_engine::{Call, Deployment, Project, World};
use heirloom_server::{Desk, Place, Visitor};
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
    first: Deployment,
    kept: Mutex<Vec<Kept>>,
}

impl Office {
    /// A desk for what was typed.
    pub(crate) fn open(args: &Args) -> Result<Arc<Office>> {
        // What a program asks for does not loosen what a person set, whoever started the server.
        let sources = Sources { person: false, ..wiring::sources(args)? };
        let first = Deployment::new(environment::home())
            .with_dice(random)
            .with_user_settings(sources.user_file.clone());
        let named = Named::of(args.database.as_deref(), args.token_file.as_deref());
        Ok(Arc::new(Office { named, sources, first, kept: Mutex::default() }))
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

    fn access(&self, kept: &Kept, who: &Visitor, world: &World) -> Result<Access> {
        let Some(token) = &who.token else {
            return wiring::access_to(self.named()?, world, Arc::clone(&kept.store));
        };
        let who = UserContext::by_token(kept.store.as_ref(), token, world.now)?;
        Ok(Access::new(Arc::clone(&kept.store), who, &world.data.join("tiers")))
    }
}

impl Desk for Office {
    fn call(&self, place: &Place, who: &Visitor) -> Result<Call> {
        let world = world();
        let around = match place {
            Place::Folder(folder) if !folder.is_dir() => {
                return Err(Fault::new(Code::NotFound, "the project folder is not there any more")
                    .hint("start the server again, in the project as it is now"));
            }
            Place::Folder(folder) => Some(project_folder(folder)),
            Place::Nowhere => None,
        };
        let folder = around.as_deref().unwrap_or(Path::new("/dev/null"));
        let Loaded { settings, values, warnings } =
            settings::load(&self.sources, folder, &folder.join(PROJECT_SETTINGS), &world);
        let kept = self.kept(&settings, &world)?;
        let access = match self.access(&kept, who, &world) {
            Err(fault) if fault.code == Code::Unauthenticated => return Err(fault),
            access => access.ok(),
        };
        who.agent.as_deref().map_or(Ok(()), |name| fields::name("agent", name))?;
        let caller = person::visitor(&world.user, &settings, access.as_ref(), who.agent.as_deref());
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

    fn now(&self) -> jiff::Timestamp {
        crate::world::now()
    }
}
