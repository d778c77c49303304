//! How many processes will do: the key `soft` of MPI-5.0 §11.8.1, a list of `a`, `a:b` and `a:b:c`.

/// Whether this is such a list.
pub(super) fn is_list(list: &str) -> bool {
    list.split(',').all(|entry| largest_of(entry, 0).is_some())
}

/// The largest of these numbers that is no more than `most`; `None` when the list allows none, or is no such list.
pub(super) fn largest(list: &str, most: usize) -> Option<usize> {
    list.split(',')
        .map(|entry| largest_of(entry, most))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .flatten()
        .max()
}

/// The same for one entry; `None` when it is no such entry.
#[expect(clippy::option_option, reason = "no entry, or an entry without such a number")]
fn largest_of(entry: &str, most: usize) -> Option<Option<usize>> {
    let numbers: Vec<i64> =
        entry.split(':').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
    let (first, last, step) = match numbers[..] {
        [only] => (only, only, 1),
        [first, last] => (first, last, 1),
        [first, last, step] if step != 0 => (first, last, step),
        _ => return None,
    };
    // Wide enough for whatever comes of them.
    let [first, last, step] = [first, last, step].map(i128::from);
    let most = most as i128;
    // The numbers are first, first + step, ... as far as last: how many steps to the largest one that will do?
    if (last - first) / step < 0 {
        return Some(None);
    }
    let best = if step > 0 {
        first + (most.min(last) - first).div_euclid(step) * step
    } else {
        let over = (first - most).max(0);
        first + (over - step - 1).div_euclid(-step) * step
    };
    let inside = best >= first.min(last) && best <= first.max(last) && best <= most;
    Some(usize::try_from(best).ok().filter(|_| inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_that_there_is_room_for_is_chosen() {
        for (list, most, expected) in [
            ("4", 4, Some(4)),
            ("4", 3, None),
            ("1:4", 3, Some(3)),
            ("2:10:2", 7, Some(6)),
            ("10:2:-3", 8, Some(7)),
            ("10:2:-3", 3, None),
            ("1,3,5", 4, Some(3)),
            ("0:8:4", 3, Some(0)),
            ("4:1", 9, None),
            ("1:2:0", 9, None),
            ("x", 9, None),
            ("", 9, None),
            ("-9223372036854775808:9223372036854775807", 9, Some(9)),
            ("10:2:-9223372036854775808", 9, None),
            ("10:2:-9223372036854775808", 10, Some(10)),
            ("10:2:-9223372036854775807", 8, None),
        ] {
            assert_eq!(largest(list, most), expected, "{list} {most}");
        }
    }
}
