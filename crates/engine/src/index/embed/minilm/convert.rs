//! From the folder a MiniLM model is distributed as to our weight file, and a check of the result.
//!
//! In: a folder with `model.safetensors` and `vocab.txt` (or `tokenizer.json`). Out: one file, written
//! beside its place and renamed. Weights become 8-bit with a scale per output, word embeddings with a scale
//! per row; norms, biases and positions stay single precision. Nothing is downloaded here.

use std::fs::{self, File};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path as FilePath;

use super::super::vocab::encode;
use super::super::{Detail, EmbedError, Embedder};
use super::reference::{Reference, Source};
use super::weights::{BLOCK, MAGIC, SECTIONS_BEFORE_LAYERS, SECTIONS_PER_LAYER, Shape};
use super::{MiniLm, Path};

/// How near the 8-bit model is to the single-precision one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Instructions used.
    pub path: Path,
    /// Texts compared.
    pub texts: usize,
    /// Mean cosine between the two models' vectors.
    pub mean: f32,
    /// Worst cosine.
    pub worst: f32,
}

/// Writes the weight file `to` from the model in `folder`.
pub fn convert(folder: &FilePath, to: &FilePath) -> Result<Shape, EmbedError> {
    let source = Source::open(folder)?;
    let shape = source.shape()?;
    let words: Vec<&str> = source.words.iter().map(String::as_str).collect();
    let mut sections: Vec<Vec<u8>> = Vec::new();
    sections.push(encode(&words).ok_or_else(|| EmbedError::model("its vocabulary is too large"))?);
    let (cells, scales) = rows_to_bytes(source.tensor("embeddings.word_embeddings.weight")?, shape.hidden);
    sections.push(cells.iter().map(|c| c.cast_unsigned()).collect());
    sections.push(floats(&scales));
    sections.push(floats(&source.positions(shape)?));
    sections.push(floats(source.tensor("embeddings.LayerNorm.weight")?));
    sections.push(floats(source.tensor("embeddings.LayerNorm.bias")?));
    debug_assert_eq!(sections.len(), SECTIONS_BEFORE_LAYERS);
    for layer in 0..shape.layers {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let mut qkv = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            qkv.0.extend_from_slice(source.tensor(&name(&format!("attention.self.{part}.weight")))?);
            qkv.1.extend_from_slice(source.tensor(&name(&format!("attention.self.{part}.bias")))?);
        }
        linear(&mut sections, &qkv.0, &qkv.1, shape.hidden);
        for (part, inputs) in [
            ("attention.output.dense", shape.hidden),
            ("intermediate.dense", shape.hidden),
            ("output.dense", shape.inner),
        ] {
            let (weight, bias) = (
                source.tensor(&name(&format!("{part}.weight")))?,
                source.tensor(&name(&format!("{part}.bias")))?,
            );
            linear(&mut sections, weight, bias, inputs);
        }
        for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
            sections.push(floats(source.tensor(&name(&format!("{part}.weight")))?));
            sections.push(floats(source.tensor(&name(&format!("{part}.bias")))?));
        }
    }
    debug_assert_eq!(sections.len(), SECTIONS_BEFORE_LAYERS + shape.layers * SECTIONS_PER_LAYER);
    write(to, shape, &sections)
        .map_err(|e| EmbedError::model(format!("{} cannot be written ({e})", to.display())))?;
    Ok(shape)
}

/// Compares a converted file with the model it was made from, on every path this processor has.
pub fn verify(folder: &FilePath, file: &FilePath, texts: &[&str]) -> Result<Vec<Report>, EmbedError> {
    let reference = Reference::open(folder)?;
    let mut reports = Vec::new();
    for path in Path::available() {
        let model = MiniLm::open_on(file, NonZeroUsize::MIN, path)?;
        let (mut sum, mut worst) = (0f32, 1f32);
        for text in texts {
            let want = reference.vector(&model.cut(text));
            let got = model.embed(&[text], Detail::Pooled)?;
            let cosine: f32 = got.iter().flat_map(|e| &e.vector).zip(&want).map(|(a, b)| a * b).sum();
            sum += cosine;
            worst = worst.min(cosine);
        }
        reports.push(Report { path, texts: texts.len(), mean: sum / texts.len().max(1) as f32, worst });
    }
    Ok(reports)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// One 8-bit scale per row.
fn rows_to_bytes(values: &[f32], width: usize) -> (Vec<i8>, Vec<f32>) {
    let mut cells = Vec::with_capacity(values.len());
    let mut scales = Vec::with_capacity(values.len() / width);
    for row in values.chunks_exact(width) {
        let scale = (row.iter().fold(0f32, |m, x| m.max(x.abs())) / 127.0).max(1e-20);
        scales.push(scale);
        cells.extend(row.iter().map(|x| (x / scale).round_ties_even().clamp(-127.0, 127.0) as i8));
    }
    (cells, scales)
}

/// Adds the four sections of a linear layer: packed cells, scales, column sums, bias.
fn linear(sections: &mut Vec<Vec<u8>>, weight: &[f32], bias: &[f32], inputs: usize) {
    let (cells, scales) = rows_to_bytes(weight, inputs);
    let sums: Vec<i32> =
        cells.chunks_exact(inputs).map(|row| row.iter().map(|c| i32::from(*c)).sum()).collect();
    sections.push(packed(&cells, inputs).into_iter().map(i8::cast_unsigned).collect());
    sections.push(floats(&scales));
    sections.push(sums.iter().flat_map(|s| s.to_le_bytes()).collect());
    sections.push(floats(bias));
}

/// Rows of weights as the kernels read them: blocks of 64 outputs, in each four inputs of every output together.
pub(super) fn packed(cells: &[i8], inputs: usize) -> Vec<i8> {
    let mut out = Vec::with_capacity(cells.len());
    for block in cells.chunks_exact(inputs * BLOCK) {
        for four in (0..inputs).step_by(4) {
            for row in block.chunks_exact(inputs) {
                out.extend_from_slice(&row[four..four + 4]);
            }
        }
    }
    out
}

fn write(to: &FilePath, shape: Shape, sections: &[Vec<u8>]) -> std::io::Result<()> {
    let mut head = MAGIC.to_vec();
    head.extend(shape.words().iter().flat_map(|w| u32::try_from(*w).unwrap_or(0).to_le_bytes()));
    head.resize(64, 0);
    let mut at = (64 + sections.len() * 16).next_multiple_of(64);
    for section in sections {
        head.extend((at as u64).to_le_bytes());
        head.extend((section.len() as u64).to_le_bytes());
        at = (at + section.len()).next_multiple_of(64);
    }
    head.resize(head.len().next_multiple_of(64), 0);
    let beside = to.with_extension("part");
    let mut file = File::create(&beside)?;
    file.write_all(&head)?;
    for section in sections {
        file.write_all(section)?;
        file.write_all(&[0; 64][..section.len().next_multiple_of(64) - section.len()])?;
    }
    file.sync_all()?;
    fs::rename(&beside, to)
}
