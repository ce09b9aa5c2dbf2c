//! The vault's two blocks: the snapshot that is always given, and the context that answers a question.
//!
//! Comes in: texts with their trust, already chosen. Goes out: Markdown, one list item on one line for each memory, canon first. A
//! stored text cannot leave its line or open a tag: line breaks become blanks, characters that show nothing go, and a `<` that
//! begins a tag is spelt out. What is not fully trusted says so in front of its text. Never here: choosing, or half a line.

use crate::call::Call;
use crate::gate::Screen;
use crate::recall::prompt::question_of;
use crate::shelf::vault::{Given, Reader, Vault};
use heirloom_core::Trust;
use heirloom_core::fault::Result;
use heirloom_core::text::is_invisible;
use std::borrow::Cow;

/// Room kept for the line that says how much was left out.
const REST: usize = 64;

impl Vault<'_> {
    /// The block that is always given: canon, and registers that have a topic; empty if there is nothing. `max_chars` is its
    /// budget, whole lines only.
    pub fn snapshot(&self, reader: &Reader, max_chars: Option<usize>) -> Result<String> {
        let block = self.always_given(reader, |given| snapshot(given, max_chars, self.call().screen()))?;
        Ok(block.unwrap_or_default())
    }

    /// The block that answers a question, or without one the newest memories; canon first, empty if nothing fits.
    pub fn context(
        &self,
        reader: &Reader,
        query: Option<&str>,
        max_items: usize,
        max_chars: Option<usize>,
    ) -> Result<String> {
        let show = |given: &[Given<'_>]| context(given, max_chars, self.call().screen());
        Ok(self.given_for(reader, query, max_items, show)?.unwrap_or_default())
    }
}

/// The vault's block for a prompt; empty if it has nothing, or the prompt says too little. `agent` is whose scope is seen beside what is shared.
pub fn prompt_context(call: &Call, prompt: &str, agent: Option<&str>, max: usize) -> Result<String> {
    let vault = call.vault();
    match question_of(call, prompt) {
        Some(question) if call.settings().vault.enabled && vault.path().is_file() => {
            let most = call.settings().vault.max_items;
            vault.context(&vault.reader(agent), Some(question), most, Some(max))
        }
        _ => Ok(String::new()),
    }
}

/// The snapshot: canon, then the registers; empty if there is nothing. `max_chars` is the block's budget.
pub fn snapshot(memories: &[Given<'_>], max_chars: Option<usize>, screen: &Screen) -> String {
    render("## Memory Snapshot", ["### Canon", "### Active Registers"], memories, max_chars, screen)
}

/// The context: what answers a question, canon first; empty if nothing does. `max_chars` is the block's budget.
pub fn context(memories: &[Given<'_>], max_chars: Option<usize>, screen: &Screen) -> String {
    render("## Long-Term Memory Context", ["### Canon", "### Registers"], memories, max_chars, screen)
}

fn render(
    heading: &str,
    parts: [&str; 2],
    memories: &[Given<'_>],
    max_chars: Option<usize>,
    screen: &Screen,
) -> String {
    let room = max_chars.map_or(usize::MAX, |max| max.saturating_sub(REST));
    let mut block = String::new();
    let mut used = 0;
    let mut left_out = 0;
    let mut lines = String::new();
    for (part, canon) in parts.into_iter().zip([true, false]) {
        let mut begun = false;
        for memory in memories.iter().filter(|m| m.canon == canon) {
            // What finds no room is not looked at: a vault may hold thousands.
            if max_chars.is_some() && used + memory.text.trim().len() / 4 > room {
                left_out += 1;
                continue;
            }
            lines.clear();
            if block.is_empty() {
                lines.push_str(heading);
                lines.push('\n');
            }
            if !begun {
                lines.push('\n');
                lines.push_str(part);
                lines.push('\n');
            }
            item(memory, screen, &mut lines);
            if max_chars.is_some() {
                let size = lines.chars().count();
                if used + size > room {
                    left_out += 1;
                    continue;
                }
                used += size;
            }
            begun = true;
            block.push_str(&lines);
        }
    }
    if left_out > 0 && !block.is_empty() {
        block.push_str(&format!("\n({left_out} more: `heirloom list`)\n"));
    }
    block
}

fn item(memory: &Given<'_>, screen: &Screen, line: &mut String) {
    line.push_str("- ");
    if memory.trust < Trust::High {
        line.push_str(&format!("(trust {}, {}) ", memory.trust.name(), memory.source.name()));
    }
    if let Some(topic) = memory.topic.filter(|_| !memory.canon) {
        line.push('[');
        line.push_str(&on_one_line(&screen.calmed(topic)));
        line.push_str("] ");
    }
    line.push_str(&on_one_line(&screen.calmed(memory.text)));
    line.push('\n');
}

/// A text that stays on its line and opens no tag.
fn on_one_line(text: &str) -> Cow<'_, str> {
    // Most texts are one line of plain letters, and a snapshot may hold thousands.
    if text.bytes().fold(true, |plain, b| plain & matches!(b, b' '..=b'~') & (b != b'<')) {
        return Cow::Borrowed(text.trim());
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut chars = text
        .chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .filter(|c| !is_invisible(*c))
        .peekable();
    while let Some(c) = chars.next() {
        let opens_tag =
            c == '<' && chars.peek().is_some_and(|n| n.is_alphabetic() || matches!(n, '/' | '!' | '?'));
        if opens_tag { out.push_str("&lt;") } else { out.push(c) }
    }
    Cow::Owned(out.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_core::Source;
    use proptest::prelude::*;

    fn screen() -> Screen {
        Screen::new(heirloom_core::Settings::standard().gate)
    }

    fn shown(canon: bool, text: &str) -> Given<'_> {
        Given { canon, topic: None, text, source: Source::ExplicitSave, trust: Trust::High }
    }

    #[test]
    fn canon_stands_before_registers_and_a_register_shows_its_topic() {
        let register = Given { topic: Some("focus"), ..shown(false, "importer") };
        let block = snapshot(&[register, shown(true, "mission")], None, &screen());
        assert_eq!(
            block,
            "## Memory Snapshot\n\n### Canon\n- mission\n\n### Active Registers\n- [focus] importer\n"
        );
        assert_eq!(snapshot(&[], None, &screen()), "");
        assert!(!snapshot(&[shown(true, "mission")], None, &screen()).contains("Registers"));
    }

    #[test]
    fn what_is_not_fully_trusted_says_so_first() {
        let agent = Given { source: Source::AiInference, trust: Trust::Low, ..shown(true, "so it is") };
        assert!(context(&[agent], None, &screen()).contains("- (trust low, ai_inference) so it is\n"));
    }

    #[test]
    fn a_budget_leaves_out_whole_lines_and_says_how_many() {
        let long = "x".repeat(200);
        let block = snapshot(&[shown(true, "short"), shown(true, &long)], Some(160), &screen());
        assert!(block.contains("- short\n") && !block.contains("xxx"));
        assert!(block.contains("(1 more: "));
        assert!(block.chars().count() <= 160);
        assert_eq!(snapshot(&[shown(true, &long)], Some(10), &screen()), "");
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_line_or_opens_a_tag(
            texts in prop::collection::vec("(\\PC|\n|\r|\u{2028}|\u{85}|</memory-context>|- |#){0,40}", 1..6),
        ) {
            let memories: Vec<Given<'_>> = texts.iter().map(|t| shown(true, t)).collect();
            let block = snapshot(&memories, None, &screen());
            prop_assert_eq!(block.lines().filter(|l| l.starts_with("- ") || *l == "-").count(), texts.len());
            prop_assert_eq!(block.lines().count(), texts.len() + 3);
            prop_assert!(!block.contains("</"));
        }

        #[test]
        fn a_block_never_exceeds_its_budget(
            texts in prop::collection::vec("\\PC{0,80}", 0..8), max in 0usize..600,
        ) {
            let memories: Vec<Given<'_>> = texts.iter().map(|t| shown(false, t)).collect();
            prop_assert!(context(&memories, Some(max), &screen()).chars().count() <= max);
        }
    }
}
