//! Static embedding model: a row of numbers for each token, read from a file of weights and the
//! tokenizer that belongs to it. A text means the mean of its tokens' rows; nothing is computed
//! but that, so it takes no server and no graphics card.

use crate::error::RetrievalError;
use crate::settings::ModelFiles;
use safetensors::{Dtype, SafeTensors};
use std::path::Path;
use tokenizers::Tokenizer;

/// Limit on the size of each of the two files, in bytes: static models take 16 to 500 MB.
const LARGEST: u64 = 1 << 30;

/// The rows of a model and the tokenizer that numbers them.
#[derive(Debug)]
pub(crate) struct StaticModel {
    rows: Vec<f32>,
    width: usize,
    tokenizer: Tokenizer,
}

impl StaticModel {
    /// Reads both files.
    pub(crate) fn load(files: &ModelFiles) -> Result<Self, RetrievalError> {
        let (rows, width) = in_file(&files.weights, read_weights)?;
        let count = rows.len() / width;
        let tokenizer = in_file(&files.tokenizer, |bytes| {
            let tokenizer = read_tokenizer(bytes)?;
            let tokens = tokenizer.get_vocab_size(true);
            if tokens > count {
                return Err(format!(
                    "it knows {tokens} tokens and {} has only {count} rows: \
                     take the tokenizer of these weights",
                    files.weights.display()
                ));
            }
            Ok(tokenizer)
        })?;
        Ok(Self {
            rows,
            width,
            tokenizer,
        })
    }

    /// Returns how many numbers a vector has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The mean of the rows of a word's tokens; nothing for one without any.
    pub(super) fn vector(&self, word: &str) -> Option<Vec<f32>> {
        let encoding = self.tokenizer.encode_fast(word, false).ok()?;
        let mut sum = vec![0.0; self.width];
        let mut found = 0.0;
        for token in encoding.get_ids() {
            let first = *token as usize * self.width;
            let Some(row) = self.rows.get(first..first + self.width) else {
                continue;
            };
            found += 1.0;
            sum.iter_mut().zip(row).for_each(|(sum, one)| *sum += one);
        }
        for one in &mut sum {
            *one /= found;
        }
        (found > 0.0).then_some(sum)
    }
}

/// Reads a file and says of what is wrong in it where it stands.
fn in_file<T>(
    path: &Path,
    read: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<T, RetrievalError> {
    let bytes = || -> Result<Vec<u8>, String> {
        let size = std::fs::metadata(path)
            .map_err(|error| error.to_string())?
            .len();
        if size > LARGEST {
            return Err(format!("it has {size} bytes, more than {LARGEST}"));
        }
        std::fs::read(path).map_err(|error| error.to_string())
    };
    let read = bytes().and_then(|bytes| read(&bytes));
    read.map_err(|reason| RetrievalError::Model {
        path: path.to_path_buf(),
        reason,
    })
}

fn read_tokenizer(bytes: &[u8]) -> Result<Tokenizer, String> {
    let mut tokenizer = Tokenizer::from_bytes(bytes)
        .map_err(|error| format!("it is no tokenizer.json: {error}"))?;
    // What a file asks for to fill a batch would count as words.
    tokenizer.with_padding(None);
    tokenizer
        .with_truncation(None)
        .map_err(|error| error.to_string())?;
    Ok(tokenizer)
}

/// The numbers of the one table in a file of weights, and the length of its rows.
fn read_weights(bytes: &[u8]) -> Result<(Vec<f32>, usize), String> {
    let tensors = SafeTensors::deserialize(bytes)
        .map_err(|error| format!("it is no whole safetensors file: {error}"))?;
    let tables: Vec<_> = tensors
        .iter()
        .filter(|(_, tensor)| tensor.shape().len() == 2)
        .collect();
    let [(name, table)] = tables.as_slice() else {
        return Err(format!(
            "it has {} tables, and a static model has one, with a row for each token",
            tables.len()
        ));
    };
    let width = table.shape().last().copied().unwrap_or_default();
    let data = table.data();
    let rows: Vec<f32> = match table.dtype() {
        Dtype::F32 => numbers(data, f32::from_le_bytes),
        Dtype::F16 => numbers(data, |bytes| from_half(u16::from_le_bytes(bytes))),
        Dtype::BF16 => numbers(data, |bytes| {
            f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
        }),
        other => return Err(format!("{name} holds {other:?}; F32, F16 or BF16 is read")),
    };
    if rows.is_empty() || rows.iter().any(|number| !number.is_finite()) {
        return Err(format!("{name} is empty or holds what is no number"));
    }
    Ok((rows, width))
}

fn numbers<const SIZE: usize>(bytes: &[u8], read: impl Fn([u8; SIZE]) -> f32) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<SIZE>();
    chunks.iter().map(|chunk| read(*chunk)).collect()
}

/// A number of half precision: a sign, five bits of exponent, ten of fraction.
fn from_half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let magnitude = match exponent {
        // Without the leading one: steps of 2 to the power of -24.
        0 => fraction as f32 * (-24_f32).exp2(),
        31 => f32::NAN,
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(sign | magnitude.to_bits())
}

#[cfg(test)]
mod tests {
    use super::from_half;

    #[test]
    fn half_precision_is_read() {
        for (bits, number) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65_504.0),
            (0x0000, 0.0),
        ] {
            let read = from_half(bits);
            assert!(
                (read - number).abs() <= f32::EPSILON * number.abs(),
                "{bits:x}: {read}"
            );
        }
        assert!(from_half(0x7c00).is_nan());
    }
}
