//! Reading numbers out of what programs print, and comparing them.

use crate::project::Fallible;

/// The first number in the text after these words; `NaN` where there is none, which no comparison accepts.
pub(super) fn after(text: &str, words: &str) -> f64 {
    let Some((_, rest)) = text.split_once(words) else { return f64::NAN };
    let number = |word: &str| word.trim_matches([',', ';', '(', ')', '=', ':']).parse().ok();
    rest.split_whitespace().find_map(number).unwrap_or(f64::NAN)
}

/// All numbers in a line.
pub(super) fn all(line: &str) -> Vec<f64> {
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The value is at most so much.
pub(super) fn at_most(what: &str, value: f64, bound: f64) -> Fallible {
    if value <= bound {
        Ok(())
    } else {
        Err(format!("    {what} is {value:e}; it should be at most {bound:e}"))
    }
}

/// Two values agree, relative to the larger one.
pub(super) fn agree(what: &str, value: f64, known: f64, tolerance: f64) -> Fallible {
    if (value - known).abs() <= tolerance * value.abs().max(known.abs()) {
        Ok(())
    } else {
        Err(format!("    {what} is {value:e}; it should be {known:e}, to {tolerance:e} of it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found() {
        let text = "Time: 3 s\nSum of edges (cut) = 12.5 here";
        assert_eq!(after(text, "(cut)"), 12.5);
        assert!(after(text, "nothing").is_nan());
        assert_eq!(all("a 1 b 2e-3"), [1.0, 2e-3]);
    }

    #[test]
    fn what_is_no_number_agrees_with_nothing() {
        assert!(at_most("x", f64::NAN, 1.0).is_err() && agree("x", f64::NAN, f64::NAN, 1.0).is_err());
        assert!(agree("x", 1.0, 1.0 + 1e-9, 1e-8).is_ok() && agree("x", 1.0, 1.1, 1e-8).is_err());
        assert!(at_most("x", 1.0, 1.0).is_ok() && at_most("x", 1.1, 1.0).is_err());
    }
}
