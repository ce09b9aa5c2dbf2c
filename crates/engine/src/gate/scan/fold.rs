//! Which characters stand for others. In: a text and a place. Out: keep, drop or read as another
//! character. Only what hides or disguises ASCII is touched; other scripts stay as they are.

/// What to do with the bytes at a place.
pub(super) enum Folded {
    /// Keep this many bytes.
    Same(usize),
    /// Read as if these bytes were not there.
    Drop(usize),
    /// Read these bytes as one character.
    Char(usize, char),
}

/// The word that is being read: a look-alike letter is folded only in a word that also has ASCII
/// letters or digits, so that real Cyrillic and Greek stay readable.
#[derive(Default)]
pub(super) struct Token {
    start: usize,
    end: usize,
    mixed: bool,
}

/// Whether a text can need folding at all.
pub(super) fn wanted(bytes: &[u8]) -> bool {
    bytes.iter().any(|&b| special(b))
}

/// Bytes that may begin something to fold.
fn special(b: u8) -> bool {
    b >= 0x80 || matches!(b, 0x1b | b'%' | b'\\' | b'&')
}

/// Invisible characters: default-ignorable code points and bidirectional controls.
pub(super) fn invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Marks that are drawn through or under a letter: struck out and underlined text.
fn overlay(c: char) -> bool {
    matches!(c, '\u{332}'..='\u{338}' | '\u{305}' | '\u{30a}'..='\u{30f}' | '\u{20d0}'..='\u{20f0}' | '\u{33f}' | '\u{346}'..='\u{34e}')
}

/// Tag characters spell ASCII that no one sees.
pub(super) fn tag(c: char) -> Option<char> {
    matches!(c, '\u{e0020}'..='\u{e007e}').then(|| char::from((c as u32 - 0xe0000) as u8))
}

/// Decides about the bytes at `at`, which is a character boundary before the end of `text`.
pub(super) fn at(text: &str, at: usize, token: &mut Token) -> Folded {
    let bytes = text.as_bytes();
    match bytes[at] {
        b'%' => percent(bytes, at),
        b'\\' => escape(bytes, at),
        b'&' => entity(bytes, at),
        0x1b => ansi(bytes, at),
        b if b < 0x80 => Folded::Same(bytes[at..].iter().take_while(|b| !special(**b)).count().max(1)),
        _ => {
            let Some(c) = text[at..].chars().next() else {
                return Folded::Same(1);
            };
            let len = c.len_utf8();
            if invisible(c) || overlay(c) {
                return Folded::Drop(len);
            }
            if let Some(plain) = compatible(c) {
                return Folded::Char(len, plain);
            }
            match look_alike(c) {
                Some(plain) if token.mixed_at(text, at) => Folded::Char(len, plain),
                _ => Folded::Same(len),
            }
        }
    }
}

impl Token {
    fn mixed_at(&mut self, text: &str, at: usize) -> bool {
        if !(self.start..self.end).contains(&at) || self.end == 0 {
            let inside = |c: char| {
                !c.is_whitespace()
                    && (!c.is_ascii()
                        || c.is_ascii_alphanumeric()
                        || matches!(c, '-' | '_' | '.' | '/' | '+'))
            };
            // Bounded backwards: what lies before the previous word is of no interest, and the look
            // stays linear because a word is judged once.
            let floor = self.end.min(at);
            let start = text[floor..at].rfind(|c| !inside(c)).map_or(floor, |i| floor + i + 1);
            self.start = (start..=at).find(|&i| text.is_char_boundary(i)).unwrap_or(at);
            self.end = text[at..].find(|c| !inside(c)).map_or(text.len(), |i| at + i);
            self.mixed = text[self.start..self.end].bytes().any(|b| b.is_ascii_alphanumeric());
        }
        self.mixed
    }
}

fn printable(b: u8) -> bool {
    (0x20..0x7f).contains(&b)
}

fn hex(bytes: &[u8]) -> Option<u32> {
    bytes.iter().try_fold(0u32, |sum, &b| Some(sum << 4 | (b as char).to_digit(16)?))
}

fn percent(bytes: &[u8], at: usize) -> Folded {
    match bytes.get(at + 1..at + 3).and_then(hex) {
        Some(code) if printable(code as u8) => Folded::Char(3, char::from(code as u8)),
        _ => Folded::Same(1),
    }
}

/// `\u0041`, `\u{41}`, `\x41`.
fn escape(bytes: &[u8], at: usize) -> Folded {
    let rest = &bytes[at + 1..];
    let (code, len) = match rest.first() {
        Some(b'u') if rest.get(1) == Some(&b'{') => {
            let Some(close) = rest.iter().take(9).position(|&b| b == b'}') else {
                return Folded::Same(1);
            };
            (hex(&rest[2..close]), close + 2)
        }
        Some(b'u') => (rest.get(1..5).and_then(hex), 6),
        Some(b'x') => (rest.get(1..3).and_then(hex), 4),
        _ => return Folded::Same(1),
    };
    match code {
        Some(code @ 0x20..=0x7e) => Folded::Char(len, char::from(code as u8)),
        Some(code) if char::from_u32(code).is_some_and(invisible) => Folded::Drop(len),
        _ => Folded::Same(1),
    }
}

/// `&#112;`, `&#x70;` and the few named ones that hide syntax.
fn entity(bytes: &[u8], at: usize) -> Folded {
    let rest = &bytes[at + 1..];
    let Some(semi) = rest.iter().take(9).position(|&b| b == b';') else {
        return Folded::Same(1);
    };
    let name = &rest[..semi];
    let c = match name {
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"amp" => Some('&'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        b"lowbar" => Some('_'),
        b"hyphen" | b"dash" => Some('-'),
        b"equals" => Some('='),
        b"colon" => Some(':'),
        b"period" => Some('.'),
        [b'#', b'x' | b'X', digits @ ..] => hex(digits).and_then(char::from_u32),
        [b'#', digits @ ..] if !digits.is_empty() => digits
            .iter()
            .try_fold(0u32, |sum, &b| Some(sum * 10 + (b as char).to_digit(10)?))
            .and_then(char::from_u32),
        _ => None,
    };
    match c {
        Some(c) if c.is_ascii() && printable(c as u8) => Folded::Char(semi + 2, c),
        Some(c) if invisible(c) => Folded::Drop(semi + 2),
        _ => Folded::Same(1),
    }
}

/// Terminal control sequences colour or hide text; a reader of the file does not see them.
fn ansi(bytes: &[u8], at: usize) -> Folded {
    if bytes.get(at + 1) != Some(&b'[') {
        return Folded::Drop(1);
    }
    let body = bytes[at + 2..].iter().take(24).position(|&b| (0x40..0x7f).contains(&b));
    body.map_or(Folded::Drop(1), |end| Folded::Drop(end + 3))
}

/// Compatibility forms: full-width, mathematical and enclosed letters, odd spaces and dashes.
fn compatible(c: char) -> Option<char> {
    let code = c as u32;
    let nth = |base: u32, first: u8| Some(char::from(first + ((code - base) % 26) as u8));
    match code {
        0xff01..=0xff5e => char::from_u32(code - 0xfee0),
        0x24b6..=0x24cf => nth(0x24b6, b'A'),
        0x24d0..=0x24e9 => nth(0x24d0, b'a'),
        0x1f110..=0x1f129 => nth(0x1f110, b'A'),
        0x1f130..=0x1f149 => nth(0x1f130, b'A'),
        0x1f150..=0x1f169 => nth(0x1f150, b'A'),
        0x1f170..=0x1f189 => nth(0x1f170, b'A'),
        0x1d400..=0x1d6a3 => {
            let letter = ((code - 0x1d400) % 52) as u8;
            Some(char::from(if letter < 26 { b'A' + letter } else { b'a' + letter - 26 }))
        }
        0x1d7ce..=0x1d7ff => Some(char::from(b'0' + ((code - 0x1d7ce) % 10) as u8)),
        0xa0 | 0x2000..=0x200a | 0x202f | 0x205f | 0x3000 => Some(' '),
        0x2010..=0x2012 | 0x2212 => Some('-'),
        0x2018 | 0x2019 => Some('\''),
        0x201c | 0x201d => Some('"'),
        _ => None,
    }
}

/// Letters of other scripts that are drawn like ASCII letters.
fn look_alike(c: char) -> Option<char> {
    if !matches!(c as u32, 0x250..=0x58f | 0x1d00..=0x1d2f | 0x2113 | 0x217c) {
        return None;
    }
    const FROM: &str = "аеорсухіјѕһԁԛԝкмтвнАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧοναρικυօոսɡɑⅼℓᴏᴀᴇɪʏɴʀѵԌԍ";
    const TO: &str = "aeopcyxijshdqwkmtbhABEKMHOPCTYXIJSABEZHIKMNOPTYXovapikuonugallOAEIYNRvGg";
    // The two tables pair up character by character.
    FROM.chars().zip(TO.chars()).find(|&(from, _)| from == c).map(|(_, to)| to)
}
