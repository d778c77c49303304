//! A field of numbers as a PNG picture. The colours go from dark blue through violet, red and orange to pale yellow
//! with steadily growing brightness, so that the picture can also be read in grey.

use std::{fs::File, io::BufWriter, path::Path};

use crate::project::Fallible;

/// Fixed points of the colour map, evenly spaced.
const COLOURS: [[f64; 3]; 7] = [
    [8.0, 8.0, 40.0],
    [48.0, 16.0, 96.0],
    [120.0, 28.0, 109.0],
    [190.0, 48.0, 74.0],
    [235.0, 105.0, 36.0],
    [250.0, 180.0, 40.0],
    [252.0, 250.0, 190.0],
];

/// Writes `field`, row by row, as a picture; the smallest value is darkest, the largest brightest.
pub(crate) fn write(path: &Path, field: &[f64], width: usize) -> Fallible {
    let height = field.len() / width.max(1);
    let least = field.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = field.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if largest > least { largest - least } else { 1.0 };
    let pixels: Vec<u8> = field.iter().flat_map(|value| colour((value - least) / range)).collect();
    encode(path, &pixels, width, height).map_err(|e| format!("can't write {}: {e}", path.display()))
}

fn encode(path: &Path, pixels: &[u8], width: usize, height: usize) -> Result<(), png::EncodingError> {
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), size(width), size(height));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()
}

/// The colour of a number between 0 and 1.
fn colour(value: f64) -> [u8; 3] {
    // The square root shows the faint warmth around the hot places.
    let place = value.clamp(0.0, 1.0).sqrt() * (COLOURS.len() - 1) as f64;
    let below = (place as usize).min(COLOURS.len() - 2);
    let part = place - below as f64;
    std::array::from_fn(|i| (COLOURS[below][i] * (1.0 - part) + COLOURS[below + 1][i] * part).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brighter_means_larger() {
        let light = |v: f64| colour(v).iter().map(|c| u32::from(*c)).sum::<u32>();
        assert!((1..100).all(|i| light(f64::from(i) / 100.0) >= light(f64::from(i - 1) / 100.0)));
    }

    #[test]
    fn a_picture_can_be_read_back() {
        let path = std::env::temp_dir().join(format!("posthaste-picture-{}.png", std::process::id()));
        write(&path, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 3).unwrap();
        let decoder = png::Decoder::new(std::io::BufReader::new(File::open(&path).unwrap()));
        let info = decoder.read_info().unwrap();
        assert_eq!((info.info().width, info.info().height), (3, 2));
        std::fs::remove_file(path).unwrap();
    }
}
