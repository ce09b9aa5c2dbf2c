//! The block list for lessons: thirteen words, any case, anywhere. In: the content. Out: the words
//! it holds. A hit refuses the whole content; nothing is redacted.

/// What a refusal says.
pub const REFUSAL: &str = "Security violation: Cannot store sensitive data";
/// What a refusal suggests.
pub const SUGGESTION: &str = "store the location or method instead of the actual value";

/// The blocked words, in their order.
pub const BLOCKED: [&str; 13] = [
    "password",
    "token",
    "key",
    "secret",
    "credential",
    "ghp_",
    "sk-",
    "ak_",
    "-----BEGIN",
    "api_key",
    "@gmail.com",
    "amazonaws.com/key",
    "bearer ",
];

/// The blocked words that `content` holds, in list order.
pub fn blocked(content: &str) -> Vec<&'static str> {
    let folded = content.to_lowercase();
    BLOCKED.into_iter().filter(|word| folded.contains(&word.to_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_anywhere_in_any_case() {
        assert_eq!(blocked("The KEYBOARD and the ToKeN"), ["token", "key"]);
        assert_eq!(blocked("-----begin"), ["-----BEGIN"]);
        assert_eq!(blocked("task-runner"), ["sk-"]);
        assert!(blocked("plain words, bearer\tof news").is_empty());
    }
}
