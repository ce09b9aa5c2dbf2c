use std::fs;
use std::path::PathBuf;

use super::*;

/// Writes a small random model in the distributed form.
fn small_model(folder: &FilePath) -> PathBuf {
    let (hidden, inner, vocab, positions, layers) = (64usize, 128usize, 40usize, 32usize, 2usize);
    let mut words: Vec<String> = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(String::from).to_vec();
    words.extend((words.len()..vocab).map(|i| format!("w{i}")));
    fs::write(folder.join("vocab.txt"), words.join("\n")).unwrap();
    let mut state = 88172645463325252u64;
    let mut tensors: Vec<(String, Vec<usize>, f32, f32)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![vocab, hidden], 1.0, 0.0),
        ("embeddings.position_embeddings.weight".into(), vec![positions, hidden], 0.3, 0.0),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, hidden], 0.1, 0.0),
        ("embeddings.LayerNorm.weight".into(), vec![hidden], 0.1, 1.0),
        ("embeddings.LayerNorm.bias".into(), vec![hidden], 0.1, 0.0),
    ];
    for l in 0..layers {
        for (part, out, width) in [
            ("attention.self.query", hidden, hidden),
            ("attention.self.key", hidden, hidden),
            ("attention.self.value", hidden, hidden),
            ("attention.output.dense", hidden, hidden),
            ("intermediate.dense", inner, hidden),
            ("output.dense", hidden, inner),
        ] {
            tensors.push((format!("encoder.layer.{l}.{part}.weight"), vec![out, width], 0.2, 0.0));
            tensors.push((format!("encoder.layer.{l}.{part}.bias"), vec![out], 0.1, 0.0));
        }
        for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
            tensors.push((format!("encoder.layer.{l}.{part}.weight"), vec![hidden], 0.1, 1.0));
            tensors.push((format!("encoder.layer.{l}.{part}.bias"), vec![hidden], 0.1, 0.0));
        }
    }
    let (mut table, mut body) = (serde_json::Map::new(), Vec::new());
    for (name, shape, size, middle) in tensors {
        let from = body.len();
        for _ in 0..shape.iter().product::<usize>() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let x = ((state >> 40) as f32 / 8_388_608.0 - 1.0) * size + middle;
            body.extend(x.to_le_bytes());
        }
        table.insert(
            name,
            serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [from, body.len()]}),
        );
    }
    let head = serde_json::to_vec(&table).unwrap();
    let mut all = (head.len() as u64).to_le_bytes().to_vec();
    all.extend(head);
    all.extend(body);
    fs::write(folder.join("model.safetensors"), all).unwrap();
    folder.join("minilm.bin")
}

const TEXTS: [&str; 5] =
    ["w5 w6 w7", "w9", "", "w10 w11 nothing w12 w13 w14 w15 w16 w17 w18", "w30 w31 w30 w31"];

#[test]
fn every_path_is_close_to_single_precision() {
    let dir = tempfile::tempdir().unwrap();
    let file = small_model(dir.path());
    convert(dir.path(), &file).unwrap();
    let reports = verify(dir.path(), &file, &TEXTS).unwrap();
    assert_eq!(reports.len(), Path::available().len());
    for report in reports {
        assert!(report.mean > 0.996 && report.worst > 0.99, "{report:?}");
    }
}

#[test]
fn a_batch_on_two_threads_gives_what_single_calls_give() {
    let dir = tempfile::tempdir().unwrap();
    let file = small_model(dir.path());
    convert(dir.path(), &file).unwrap();
    let model = MiniLm::open(&file, NonZeroUsize::new(2).unwrap()).unwrap();
    let batch = model.embed(&TEXTS, Detail::Pieces).unwrap();
    for (text, together) in TEXTS.iter().zip(&batch) {
        let alone = &model.embed(&[text], Detail::Pieces).unwrap()[0];
        assert_eq!(alone, together);
        let pieces = together.pieces.as_ref().unwrap();
        assert_eq!(pieces.vectors.len(), pieces.ids.len() * 64);
        assert_eq!(pieces.ids.len(), text.split_whitespace().count());
    }
}

#[test]
fn a_cut_or_foreign_weight_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = small_model(dir.path());
    convert(dir.path(), &file).unwrap();
    let whole = fs::read(&file).unwrap();
    for end in [10, 100, 700, whole.len() / 2, whole.len() - 200] {
        let path = dir.path().join("cut.bin");
        fs::write(&path, &whole[..end]).unwrap();
        assert!(MiniLm::open(&path, NonZeroUsize::MIN).is_err(), "{end}");
    }
    assert!(MiniLm::open(&dir.path().join("none"), NonZeroUsize::MIN).is_err());
    assert!(convert(&dir.path().join("none"), &file).is_err());
}
