//! Inject: what an agent is given, as text.
//!
//! Comes in: hits. Goes out: a fenced block that no stored text can leave. Never here: choosing hits.

mod answer;
pub(crate) mod brief;
pub(crate) mod calm;
mod fence;
mod prompt;
mod tiers;
pub mod vault;

pub use answer::{Budget, answer_block};
pub use brief::{BRIEF_LESSONS, BRIEF_TOKENS, Brief};
pub use calm::source;
pub use fence::records_block;
pub use prompt::prompt_block;
pub use tiers::tiers_block;
