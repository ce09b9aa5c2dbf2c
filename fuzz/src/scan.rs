//! The gate's scanner over any text.

use heirloom_core::{Settings, Trust};
use heirloom_engine::gate::Screen;
use heirloom_engine::gate::policy::{Act, Row};

const ROWS: [Row; 6] = [Row::Records, Row::Topics, Row::Notes, Row::Vault, Row::Episode, Row::Fact];
const TRUSTS: [Trust; 3] = [Trust::Low, Trust::Medium, Trust::High];

thread_local! {
    static SCREEN: Screen = Screen::new(Settings::standard().gate);
}

/// Every verdict names spans of the text; what is refused is not stored; redacting twice is redacting once.
pub(crate) fn gate(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    // The shelf and the trust hang on the first byte: all of them each time would be the same scan eighteen times.
    let first = bytes.first().copied().unwrap_or_default() as usize;
    let (row, trust) = (ROWS[first % ROWS.len()], TRUSTS[first % TRUSTS.len()]);
    SCREEN.with(|screen| {
        let verdict = screen.verdict(&text, row, trust);
        for (finding, _) in &verdict.findings {
            assert!(text.get(finding.span.clone()).is_some(), "a span lies between characters");
        }
        assert_eq!(verdict.stored.is_none(), matches!(verdict.act, Act::Refuse | Act::Confirm));
        let redacted = screen.redacted(&text);
        screen.redacted(&redacted);
        screen.would_refuse(&text, row);
    });
}
