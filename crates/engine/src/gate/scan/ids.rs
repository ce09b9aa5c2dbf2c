//! Check digits of numbers that name people, cards and accounts, by country. In: a match with its
//! separators. Out: whether the number can exist. Pure arithmetic, no tables of real numbers.

use super::{
    national::{
        cl_rut, cn_id, de_health, de_id_card, de_social, es_nif, fi_hetu, fr_nir, hk_id, it_fiscal, sg_nric,
        tw_id, uk_nino, vin,
    },
    rules::Check,
};

/// The digits of a token as numbers.
pub(super) fn digits(token: &[u8]) -> Vec<u32> {
    token.iter().filter(|b| b.is_ascii_digit()).map(|b| u32::from(b - b'0')).collect()
}

/// Letters and digits only, upper case.
pub(super) fn plain(token: &[u8]) -> Vec<u8> {
    token.iter().filter(|b| b.is_ascii_alphanumeric()).map(u8::to_ascii_uppercase).collect()
}

pub(super) fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(d, w)| d * w).sum()
}

pub(super) fn number(digits: &[u32]) -> u64 {
    digits.iter().fold(0, |n, &d| n * 10 + u64::from(d))
}

/// The checksum of cards and many registers.
pub(super) fn luhn(d: &[u32]) -> bool {
    let sum: u32 = d
        .iter()
        .rev()
        .enumerate()
        .map(|(i, &x)| if i % 2 == 1 { if x > 4 { 2 * x - 9 } else { 2 * x } } else { x })
        .sum();
    sum.is_multiple_of(10)
}

/// A day and month that exist.
pub(super) fn day_month(day: u64, month: u64) -> bool {
    (1..=31).contains(&day) && (1..=12).contains(&month)
}

/// Whether the number can exist. Checks of other kinds are not decided here.
pub(super) fn valid(check: Check, token: &[u8]) -> bool {
    let d = digits(token);
    let n = d.len();
    let varied = d.iter().any(|x| *x != d[0]);
    match check {
        Check::Luhn => varied && luhn(&d),
        Check::Ssn => ssn(&d),
        Check::UsItin => {
            n == 9 && d[0] == 9 && matches!(d[3] * 10 + d[4], 50..=65 | 70..=88 | 90..=92 | 94..=99)
        }
        Check::Pesel => {
            n == 11
                && varied
                && weighted(&d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10)
                && day_month(number(&d[4..6]), number(&d[2..4]) % 20)
        }
        Check::Cpf => {
            n == 11
                && varied
                && (9..11)
                    .all(|k| (0..k).map(|i| d[i] * (k + 1 - i) as u32).sum::<u32>() * 10 % 11 % 10 == d[k])
        }
        Check::Cnpj => {
            n == 14
                && varied
                && (12..14).all(|k| {
                    let sum: u32 = (0..k).map(|i| d[i] * ((k - 1 - i) % 8 + 2) as u32).sum();
                    d[k] == if sum % 11 < 2 { 0 } else { 11 - sum % 11 }
                })
        }
        Check::Verhoeff => n == 12 && d[0] > 1 && verhoeff(&d),
        Check::DeTaxId => n == 11 && d[0] != 0 && varied && mod11_10(&d),
        Check::DeIdCard => de_id_card(token),
        Check::DeSocialSecurity => de_social(token),
        Check::DeHealth => de_health(token),
        Check::EsNif => es_nif(token),
        Check::FrNir => fr_nir(token),
        Check::ItFiscal => it_fiscal(token),
        Check::FiHetu => fi_hetu(token),
        Check::SeLuhn => {
            (n == 10 || n == 12)
                && varied
                && luhn(&d[n - 10..])
                && d[n - 8] * 10 + d[n - 7] <= 99
                && ((1..=12).contains(&(d[n - 8] * 10 + d[n - 7]))
                    && (1..=91).contains(&(d[n - 6] * 10 + d[n - 5]))
                    || d[n - 8] * 10 + d[n - 7] >= 20)
        }
        Check::KrBrn => {
            n == 10 && {
                let sum = weighted(&d[..9], &[1, 3, 7, 1, 3, 7, 1, 3, 5]) + d[8] * 5 / 10;
                (10 - sum % 10) % 10 == d[9]
            }
        }
        Check::NlBsn => {
            n == 9 && varied && (weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) + 10 * d[8]).is_multiple_of(11)
        }
        Check::UkNhs => {
            n == 10 && varied && {
                let rest = 11 - weighted(&d[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
                rest % 11 == d[9] && rest != 10
            }
        }
        Check::UkNino => uk_nino(token),
        Check::AuTfn => match n {
            9 => varied && weighted(&d, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11),
            8 => varied && weighted(&d, &[10, 7, 8, 4, 6, 3, 5, 1]).is_multiple_of(11),
            _ => false,
        },
        Check::AuAbn => {
            n == 11
                && d[0] > 0
                && (weighted(&d, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) - 10).is_multiple_of(89)
        }
        Check::AuAcn => n == 9 && (10 - weighted(&d[..8], &[8, 7, 6, 5, 4, 3, 2, 1]) % 10) % 10 == d[8],
        Check::AuMedicare => {
            (10..=11).contains(&n)
                && (2..=6).contains(&d[0])
                && weighted(&d[..8], &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == d[8]
        }
        Check::ZaId => n == 13 && day_month(number(&d[4..6]), number(&d[2..4])) && d[10] <= 2 && luhn(&d),
        Check::ThTnin => {
            n == 13
                && d[0] > 0
                && (11 - weighted(&d[..12], &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 10 == d[12]
        }
        Check::TrTckn => {
            n == 11 && d[0] > 0 && {
                let odd: u32 = d[..9].iter().step_by(2).sum();
                let even: u32 = d[1..8].iter().step_by(2).sum();
                (odd * 7 + 100 - even) % 10 == d[9] && d[..10].iter().sum::<u32>() % 10 == d[10]
            }
        }
        Check::SgNric => sg_nric(token),
        Check::SgUen => matches!(plain(token).len(), 9 | 10),
        Check::Dea => n == 7 && (d[0] + d[2] + d[4] + 2 * (d[1] + d[3] + d[5])) % 10 == d[6],
        Check::Aba => {
            n == 9
                && matches!(d[0] * 10 + d[1], 0..=12 | 21..=32 | 61..=72 | 80)
                && varied
                && weighted(&d, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10)
        }
        Check::PtNif => {
            n == 9 && d[0] > 0 && {
                let rest = 11 - weighted(&d[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
                d[8] == if rest >= 10 { 0 } else { rest }
            }
        }
        Check::BeNn => {
            n == 11 && {
                let sum = 97 - number(&d[9..11]);
                number(&d[..9]) % 97 == sum || (2_000_000_000 + number(&d[..9])) % 97 == sum
            }
        }
        Check::DkCpr => n == 10 && day_month(number(&d[..2]), number(&d[2..4])),
        Check::NoFnr => {
            n == 11
                && weighted(&d[..10], &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]).is_multiple_of(11)
                && weighted(&d, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11)
                && day_month(number(&d[..2]) % 40, number(&d[2..4]) % 40)
        }
        Check::ChAhv => {
            n == 13
                && d[..3] == [7, 5, 6]
                && d.iter().enumerate().map(|(i, x)| if i % 2 == 1 { 3 * x } else { *x }).sum::<u32>() % 10
                    == 0
        }
        Check::CzRc => {
            n == 10
                && number(&d).is_multiple_of(11)
                && day_month(number(&d[4..6]), number(&d[2..4]) % 50 % 20)
        }
        Check::RoCnp => {
            n == 13 && d[0] > 0 && {
                let rest = weighted(&d[..12], &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
                d[12] == if rest == 10 { 1 } else { rest }
            }
        }
        Check::CnId => cn_id(token),
        Check::TwId => tw_id(token),
        Check::JpMyNumber => {
            n == 12 && varied && {
                let rest = weighted(&d[..11], &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
                d[11] == if rest <= 1 { 0 } else { 11 - rest }
            }
        }
        Check::ClRut => cl_rut(token),
        Check::ArCuit => {
            n == 11 && varied && {
                let rest = 11 - weighted(&d[..10], &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
                d[10]
                    == match rest {
                        11 => 0,
                        10 => 9,
                        other => other,
                    }
            }
        }
        Check::IlId => n == 9 && varied && luhn(&d),
        Check::InGstin => n >= 7 && (1..=38).contains(&(d[0] * 10 + d[1])),
        Check::HkId => hk_id(token),
        Check::GrAmka => n == 11 && day_month(number(&d[..2]), number(&d[2..4])) && luhn(&d),
        Check::BgEgn => {
            n == 10
                && weighted(&d[..9], &[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == d[9]
                && day_month(number(&d[4..6]), number(&d[2..4]) % 20)
        }
        Check::HrOib => n == 11 && varied && mod11_10(&d),
        Check::EeIk => {
            n == 11 && varied && {
                let first = weighted(&d[..10], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
                let second = weighted(&d[..10], &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11;
                d[10]
                    == if first < 10 {
                        first
                    } else if second < 10 {
                        second
                    } else {
                        0
                    }
            }
        }
        Check::Vin => vin(token),
        Check::Imei => n == 15 && varied && luhn(&d),
        _ => false,
    }
}

/// A card number: an issuer's range, its length and the checksum.
pub(super) fn card(d: &[u32]) -> bool {
    if d.len() < 12 || d.iter().all(|x| *x == d[0]) || !luhn(d) {
        return false;
    }
    let head = number(&d[..4]);

    match d.len() {
        13 => (4000..=4999).contains(&head),
        14 => matches!(head, 3000..=3059 | 3600..=3699 | 3800..=3999 | 3095),
        15 => matches!(head, 3400..=3499 | 3700..=3799 | 1800 | 2131 | 2014 | 2149),
        16 => {
            matches!(head, 2200..=2204 | 2221..=2720 | 3088..=3095 | 3300..=3349 | 3528..=3589 | 4000..=5999 | 6011 | 6040..=6099 | 6200..=6299 | 6304 | 6371..=6399 | 6440..=6599 | 6703 | 6709 | 6759..=6763 | 6767 | 6771 | 8100..=8171 | 9792)
        }
        17..=19 => {
            matches!(head, 4000..=4999 | 5000..=5099 | 5600..=5899 | 6011 | 6200..=6299 | 6304 | 6440..=6599 | 6703 | 6759..=6763 | 6767)
        }
        12 => matches!(head, 5018 | 5020 | 5038 | 5893 | 6304 | 6759..=6763),
        _ => false,
    }
}

/// A social security number that can have been issued.
pub(super) fn ssn(d: &[u32]) -> bool {
    if d.len() != 9 {
        return false;
    }
    let (area, group, serial) = (number(&d[..3]), number(&d[3..5]), number(&d[5..]));
    let known = matches!(number(d), 123_456_789 | 78_051_120 | 987_654_320..=987_654_329);
    !matches!(area, 0 | 666 | 900..) && group > 0 && serial > 0 && !known && d.iter().any(|x| *x != d[0])
}

fn verhoeff(d: &[u32]) -> bool {
    const MUL: [[u8; 10]; 10] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
        [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
        [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
        [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
        [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
        [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
        [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
        [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    ];
    const STEP: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let moved = |digit: u32, times: usize| (0..times).fold(digit as usize, |x, _| STEP[x] as usize);
    d.iter().rev().enumerate().fold(0usize, |c, (i, &x)| MUL[c][moved(x, i % 8)] as usize) == 0
}

/// ISO 7064 MOD 11,10: German tax ids, Croatian OIB.
fn mod11_10(d: &[u32]) -> bool {
    let (last, rest) = match d.split_last() {
        Some((last, rest)) => (*last, rest),
        None => return false,
    };
    let product = rest.iter().fold(10u32, |product, x| {
        let sum = (x + product) % 10;
        2 * if sum == 0 { 10 } else { sum } % 11
    });
    (11 - product) % 10 == last
}

/// Card numbers that payment services publish for tests.
const PUBLISHED: [&str; 30] = [
    "4242424242424242",
    "4000056655665556",
    "5555555555554444",
    "2223003122003222",
    "5200828282828210",
    "5105105105105100",
    "378282246310005",
    "371449635398431",
    "378734493671000",
    "6011111111111117",
    "6011000990139424",
    "6011981111111113",
    "3056930009020004",
    "36227206271667",
    "6555900000604105",
    "3566002020360505",
    "3530111333300000",
    "6200000000000005",
    "6205500000000000004",
    "4111111111111111",
    "4012888888881881",
    "4000000000000002",
    "4000002500003155",
    "4000000000009995",
    "4000000000003220",
    "4000002760003184",
    "30569309025904",
    "38520000023237",
    "5431111111111111",
    "4222222222222",
];

/// Whether the digits are a published test number.
pub(super) fn published(digits: &[u32]) -> bool {
    PUBLISHED
        .iter()
        .any(|n| n.len() == digits.len() && n.bytes().zip(digits).all(|(b, d)| u32::from(b - b'0') == *d))
}
