//! The built-in rules as static tables, made by the build script from `rules/*.toml`.
//! Nothing is parsed or allocated here; patterns are compiled elsewhere, on first use.

use super::finding::{Class, Level};

/// A format near a keyword.
pub(super) struct Rule {
    pub id: &'static str,
    pub class: Class,
    pub level: Level,
    pub pattern: &'static str,
    /// Least Shannon entropy of the match, bits per byte; 0 asks for none.
    pub entropy: f32,
    pub check: Check,
    /// Bytes before a keyword in which a match may begin.
    pub back: usize,
    /// Bytes after a keyword in which a match must end.
    pub ahead: usize,
    /// Whether a match may touch a letter or digit on either side.
    pub open: bool,
    /// Whether the keywords are words of context, which must not be parts of other words.
    pub context: bool,
    /// Words of which one must stand in the window too; none asks for none.
    pub also: &'static [&'static str],
}

/// Keyword groups that count only within some distance of each other.
pub(super) struct Near {
    pub id: &'static str,
    pub class: Class,
    pub level: Level,
    pub within: usize,
    pub groups: u8,
}

/// A literal that starts further work, ASCII-folded.
pub(super) struct Keyword {
    pub text: &'static [u8],
    pub uses: &'static [Use],
}

/// What a keyword is there for.
#[derive(Clone, Copy)]
pub(super) enum Use {
    /// Candidate of the rule with this index.
    Rule(u16),
    /// Member of a group of a near-rule.
    Near(u16, u8),
    /// A word that announces a credential.
    Cue(Cue),
    /// The name of a service that issues keys.
    Service,
    /// Letters replaced by digits: worth undoing.
    Leet,
}

/// The kinds of words that announce a credential; they differ in what counts as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    /// A password follows; people choose them.
    Password,
    /// A secret, token or API key follows; machines make them.
    Token,
    /// `key` and its like, which mostly mean something harmless.
    Weak,
    /// A number code.
    Pin,
    /// Several plain words.
    Phrase,
    /// A session cookie.
    Session,
    /// `login`, `credentials`: an account and its password may follow.
    Pair,
    /// `://`, where a URL may carry credentials.
    Url,
    /// The first line of a PEM block.
    Pem,
    /// Words that only text written backwards has.
    Reversed,
    /// `rot13` and text that only rot13 produces.
    Rot13,
}

/// What else must hold for a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each names the format or number it checks")]
pub(super) enum Check {
    None,
    Value,
    Password,
    Random,
    Jwt,
    GithubCrc32,
    BasicAuth,
    Opaque,
    Speaker,
    Bearer,
    Chosen,
    Luhn,
    Ssn,
    Base58,
    Bech32,
    Pesel,
    Cpf,
    Cnpj,
    Verhoeff,
    DeTaxId,
    DeIdCard,
    DeSocialSecurity,
    DeHealth,
    EsNif,
    FrNir,
    ItFiscal,
    FiHetu,
    SeLuhn,
    KrBrn,
    NlBsn,
    UkNhs,
    UkNino,
    AuTfn,
    AuAbn,
    AuAcn,
    AuMedicare,
    ZaId,
    ThTnin,
    TrTckn,
    SgNric,
    SgUen,
    Dea,
    Aba,
    PtNif,
    BeNn,
    DkCpr,
    NoFnr,
    ChAhv,
    CzRc,
    RoCnp,
    CnId,
    TwId,
    JpMyNumber,
    ClRut,
    ArCuit,
    IlId,
    UsItin,
    Ip4,
    Ip6,
    Mac,
    Phone,
    InGstin,
    HkId,
    GrAmka,
    BgEgn,
    HrOib,
    EeIk,
    Vin,
    Imei,
}

include!(concat!(env!("OUT_DIR"), "/gate_rules.rs"));
