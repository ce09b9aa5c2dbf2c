//! The model in single precision, straightforward and slow: what the fast paths are held against.
//!
//! In: the folder the model is distributed as. Out: unit vectors. Used when a model is installed (to check
//! the converted file) and in tests, never to answer a query.

use std::collections::HashMap;
use std::fs;
use std::path::Path as FilePath;

use super::super::vocab::PieceId;
use super::super::{EmbedError, to_unit};
use super::weights::{HEAD, Shape};

/// Numbers and dimensions of every tensor, by name.
type Tensors = HashMap<String, (Vec<f32>, Vec<usize>)>;

/// Tensors and vocabulary of a distributed model.
pub(super) struct Source {
    pub(super) words: Vec<String>,
    tensors: Tensors,
}

impl Source {
    pub(super) fn open(folder: &FilePath) -> Result<Self, EmbedError> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read(&path).map_err(|e| EmbedError::model(format!("{} cannot be read ({e})", path.display())))
        };
        let words = match read("vocab.txt") {
            Ok(bytes) => String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect(),
            Err(_) => words_of_tokenizer(&read("tokenizer.json")?)?,
        };
        let tensors = tensors(&read("model.safetensors")?)
            .ok_or_else(|| EmbedError::model("model.safetensors is damaged"))?;
        Ok(Self { words, tensors })
    }

    pub(super) fn tensor(&self, name: &str) -> Result<&[f32], EmbedError> {
        let found = self.tensors.get(name).map(|(values, _)| values.as_slice());
        found.ok_or_else(|| EmbedError::model(format!("model.safetensors has no {name}")))
    }

    /// The sizes, with every tensor's own size checked against them.
    pub(super) fn shape(&self) -> Result<Shape, EmbedError> {
        let wrong = |name: &str| EmbedError::model(format!("{name} has an unexpected size"));
        let dims = |name: &str| match self.tensors.get(name).map(|(_, d)| d.as_slice()) {
            Some([a, b]) => Ok((*a, *b)),
            _ => Err(wrong(name)),
        };
        let (vocab, hidden) = dims("embeddings.word_embeddings.weight")?;
        let (positions, _) = dims("embeddings.position_embeddings.weight")?;
        let (inner, _) = dims("encoder.layer.0.intermediate.dense.weight")?;
        let layers = (0..64)
            .take_while(|l| self.tensors.contains_key(&format!("encoder.layer.{l}.output.dense.weight")))
            .count();
        let shape = Shape { hidden, layers, inner, vocab, positions };
        if self.words.len() != vocab || hidden % 64 != 0 || inner % 64 != 0 || positions < 3 {
            return Err(EmbedError::model("it is not a BERT model of a size this program runs"));
        }
        for layer in 0..layers {
            for (part, size) in [
                ("attention.self.query", hidden * hidden),
                ("attention.self.key", hidden * hidden),
                ("attention.self.value", hidden * hidden),
                ("attention.output.dense", hidden * hidden),
                ("intermediate.dense", hidden * inner),
                ("output.dense", hidden * inner),
                ("attention.output.LayerNorm", hidden),
                ("output.LayerNorm", hidden),
            ] {
                let name = format!("encoder.layer.{layer}.{part}.weight");
                if self.tensor(&name)?.len() != size {
                    return Err(wrong(&name));
                }
            }
        }
        Ok(shape)
    }

    /// Position embeddings with the embedding of the first segment added, as no other segment is ever used.
    pub(super) fn positions(&self, shape: Shape) -> Result<Vec<f32>, EmbedError> {
        let segment =
            self.tensor("embeddings.token_type_embeddings.weight")?.get(..shape.hidden).unwrap_or_default();
        let positions = self.tensor("embeddings.position_embeddings.weight")?;
        Ok(positions
            .chunks_exact(shape.hidden)
            .flat_map(|row| row.iter().zip(segment).map(|(p, s)| p + s))
            .collect())
    }
}

fn words_of_tokenizer(json: &[u8]) -> Result<Vec<String>, EmbedError> {
    let bad = || EmbedError::model("tokenizer.json has no vocabulary");
    let value: serde_json::Value = serde_json::from_slice(json).map_err(|_| bad())?;
    let vocab = value.pointer("/model/vocab").and_then(|v| v.as_object()).ok_or_else(bad)?;
    let mut words = vec![String::new(); vocab.len()];
    for (word, id) in vocab {
        let place = id.as_u64().and_then(|i| words.get_mut(usize::try_from(i).ok()?)).ok_or_else(bad)?;
        word.clone_into(place);
    }
    Ok(words)
}

/// Reads the safetensors container: a length, a JSON table, the numbers.
fn tensors(bytes: &[u8]) -> Option<Tensors> {
    let head = usize::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()?;
    let table: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(bytes.get(8..8usize.checked_add(head)?)?).ok()?;
    let body = bytes.get(8 + head..)?;
    let mut out = HashMap::new();
    for (name, entry) in table {
        if entry.get("dtype").and_then(|d| d.as_str()) != Some("F32") {
            continue;
        }
        let number = |v: &serde_json::Value| v.as_u64().and_then(|n| usize::try_from(n).ok());
        let list = |key: &str| entry.get(key)?.as_array()?.iter().map(number).collect::<Option<Vec<_>>>();
        let (dims, ends) = (list("shape")?, list("data_offsets")?);
        let raw = body.get(*ends.first()?..*ends.get(1)?)?;
        let values: Vec<f32> =
            raw.chunks_exact(4).filter_map(|c| c.first_chunk()).map(|c| f32::from_le_bytes(*c)).collect();
        if dims.iter().try_fold(1usize, |a, d| a.checked_mul(*d))? != values.len() {
            return None;
        }
        out.insert(name.strip_prefix("bert.").unwrap_or(&name).to_owned(), (values, dims));
    }
    Some(out)
}

/// The single-precision model.
pub(super) struct Reference {
    source: Source,
    shape: Shape,
    positions: Vec<f32>,
}

impl Reference {
    pub(super) fn open(folder: &FilePath) -> Result<Self, EmbedError> {
        let source = Source::open(folder)?;
        let shape = source.shape()?;
        let positions = source.positions(shape)?;
        Ok(Self { source, shape, positions })
    }

    fn tensor(&self, name: &str) -> &[f32] {
        self.source.tensor(name).unwrap_or_default()
    }

    fn linear(&self, x: &[f32], name: &str, inputs: usize) -> Vec<f32> {
        let (weight, bias) = (self.tensor(&format!("{name}.weight")), self.tensor(&format!("{name}.bias")));
        x.chunks_exact(inputs)
            .flat_map(|row| {
                weight
                    .chunks_exact(inputs)
                    .zip(bias)
                    .map(move |(w, b)| w.iter().zip(row).map(|(a, c)| a * c).sum::<f32>() + b)
            })
            .collect()
    }

    fn norm(&self, x: &mut [f32], name: &str) {
        let (gain, bias) = (self.tensor(&format!("{name}.weight")), self.tensor(&format!("{name}.bias")));
        for row in x.chunks_exact_mut(self.shape.hidden) {
            let n = row.len() as f32;
            let mean = row.iter().sum::<f32>() / n;
            let spread = row.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / n;
            for ((v, g), b) in row.iter_mut().zip(gain).zip(bias) {
                *v = (*v - mean) / (spread + 1e-12).sqrt() * g + b;
            }
        }
    }

    fn attention(&self, q: &[f32], k: &[f32], v: &[f32]) -> Vec<f32> {
        let width = self.shape.hidden;
        let mut out = vec![0f32; q.len()];
        for head in (0..width).step_by(HEAD) {
            for (i, row) in q.chunks_exact(width).enumerate() {
                let scores: Vec<f32> = k
                    .chunks_exact(width)
                    .map(|key| {
                        row[head..head + HEAD]
                            .iter()
                            .zip(&key[head..head + HEAD])
                            .map(|(a, b)| a * b)
                            .sum::<f32>()
                    })
                    .map(|s| s / (HEAD as f32).sqrt())
                    .collect();
                let high = scores.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
                let weights: Vec<f32> = scores.iter().map(|s| (s - high).exp()).collect();
                let total: f32 = weights.iter().sum();
                for (w, value) in weights.iter().zip(v.chunks_exact(width)) {
                    for d in head..head + HEAD {
                        out[i * width + d] += w / total * value[d];
                    }
                }
            }
        }
        out
    }

    /// The unit vector of a text given as word pieces, special ones included.
    pub(super) fn vector(&self, ids: &[PieceId]) -> Vec<f32> {
        let width = self.shape.hidden;
        let words = self.tensor("embeddings.word_embeddings.weight");
        let mut x = Vec::with_capacity(ids.len() * width);
        for (place, id) in ids.iter().enumerate() {
            let row = &words[usize::from(*id) * width..][..width];
            x.extend(row.iter().zip(&self.positions[place * width..]).map(|(a, b)| a + b));
        }
        self.norm(&mut x, "embeddings.LayerNorm");
        for layer in 0..self.shape.layers {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            let part = |p: &str| self.linear(&x, &name(&format!("attention.self.{p}")), width);
            let mixed = self.attention(&part("query"), &part("key"), &part("value"));
            let mixed = self.linear(&mixed, &name("attention.output.dense"), width);
            x.iter_mut().zip(mixed).for_each(|(a, b)| *a += b);
            self.norm(&mut x, &name("attention.output.LayerNorm"));
            let mut wide = self.linear(&x, &name("intermediate.dense"), width);
            wide.iter_mut().for_each(|v| {
                *v *= 0.5 * (1.0 + erf(f64::from(*v) * std::f64::consts::FRAC_1_SQRT_2) as f32)
            });
            let back = self.linear(&wide, &name("output.dense"), self.shape.inner);
            x.iter_mut().zip(back).for_each(|(a, b)| *a += b);
            self.norm(&mut x, &name("output.LayerNorm"));
        }
        let mut mean = vec![0f32; width];
        for row in x.chunks_exact(width) {
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += v);
        }
        to_unit(&mut mean);
        mean
    }
}

/// erf in double precision: its series near zero, a continued fraction elsewhere.
fn erf(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 2.5 {
        let (mut term, mut sum) = (a, a);
        for n in 1..60 {
            term *= -a * a / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let tail = (1..60).rev().fold(0.0, |f, n| f64::from(n) / 2.0 / (a + f));
        1.0 - (-a * a).exp() / (std::f64::consts::PI.sqrt() * (a + tail))
    };
    value.copysign(x)
}
