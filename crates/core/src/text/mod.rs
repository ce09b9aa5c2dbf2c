//! What Heirloom does to text, each thing once.
//!
//! Comes in: any text. Goes out: tokens, slugs, or a cleaned copy. Never here: deciding whether a text may be
//! stored (the gate) or how it ranks (recall).

mod clean;
mod keywords;
mod overlap;
mod ratio;
mod scope;
mod words;

pub use clean::{
    clean_snippet, clean_tag, clean_title, cut, escape, is_invisible, one_line, shown_title, strip_control,
    strip_invisible,
};
pub use keywords::{KEYWORD_STOP_WORDS, KeywordRules, any_words, keywords, subject};
pub use overlap::{is_word, overlap, share, shared, trim, word_set};
pub use ratio::{Probe, blocks, ratio};
pub use scope::{files_named, scope_of};
pub use words::{STOP_WORDS, difference_ratio, slug, tokens, words};
