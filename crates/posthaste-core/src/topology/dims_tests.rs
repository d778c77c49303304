//! Closest splits against a search through all of them.

use super::*;

fn split(number: u64, count: usize) -> Vec<u64> {
    Search::new(number, count).closest().to_vec()
}

/// All splits of `number` into `count` factors up to `most`, the largest first.
fn all(number: u64, count: usize, most: u64, chosen: &mut Vec<u64>, found: &mut impl FnMut(&[u64])) {
    if count == 0 {
        if number == 1 {
            found(chosen);
        }
        return;
    }
    for factor in (1..=most.min(number)).filter(|factor| number.is_multiple_of(*factor)) {
        chosen.push(factor);
        all(number / factor, count - 1, factor, chosen, found);
        chosen.pop();
    }
}

fn naive(number: u64, count: usize) -> Vec<u64> {
    let mut best: Option<(u64, Vec<u64>)> = None;
    all(number, count, number, &mut Vec::new(), &mut |factors| {
        let candidate = (factors[0] - factors[count - 1], factors.to_vec());
        if best.as_ref().is_none_or(|best| candidate < *best) {
            best = Some(candidate);
        }
    });
    best.expect("the number and ones").1
}

#[test]
fn known_splits() {
    assert_eq!(split(7488, 3), [26, 18, 16]);
    assert_eq!(split(6, 2), [3, 2]);
    assert_eq!(split(7, 3), [7, 1, 1]);
    assert_eq!(split(24, 3), [4, 3, 2]);
    assert_eq!(split(36, 2), [6, 6]);
    assert_eq!(split(1, 2), [1, 1]);
    assert_eq!(split(60, 3), [5, 4, 3]);
    assert_eq!(split(1 << 30, 6), [32; 6]);
    assert_eq!(split(1 << 29, 6), [32, 32, 32, 32, 32, 16]);
    assert_eq!(split((1 << 31) - 1, 4), [(1 << 31) - 1, 1, 1, 1]);
    assert_eq!(split(46337 * 46337, 3), [46337, 46337, 1]);
    assert_eq!(split(12, 40)[..4], [3, 2, 2, 1]);
    assert!(split(1, 0).is_empty());
}

#[test]
fn every_small_number_is_split_as_by_searching_all() {
    for number in (1..=2000).chain([5040, 7488, 7560, 9240, 10_080]) {
        for count in 1..=5 {
            assert_eq!(split(number, count), naive(number, count), "{number} into {count}");
        }
    }
}

#[test]
fn numbers_with_many_divisors_are_split_in_bounded_time() {
    // The largest below 2^31 with the most divisors, others with many, powers, and products of the first primes.
    let numbers = [
        2_095_133_040,
        2_095_133_039,
        1_396_755_360,
        1_102_701_600,
        735_134_400,
        698_377_680,
        551_350_800,
        367_567_200,
        223_092_870,
        446_185_740,
        892_371_480,
        1_784_742_960,
        1_338_557_220,
        1 << 30,
        1 << 29,
        1_162_261_467,
        1_934_917_632,
        1_610_612_736,
        2_147_483_646,
        2_147_483_647,
        2_147_483_629,
        2_147_395_600,
        1_220_703_125,
        1_518_500_250,
        1_836_660_096,
        1_719_926_784,
        2_038_431_744,
        1_289_945_088,
    ];
    let mut most = (0, 0, 0);
    for number in numbers {
        for count in (2..=34).chain([100, 100_000]) {
            let mut search = Search::new(number, count);
            let factors = search.closest().to_vec();
            assert_eq!((factors.len(), factors.iter().product::<u64>()), (count, number));
            assert!(factors.is_sorted_by(|a, b| a >= b), "{number} into {count}: {factors:?}");
            most = most.max((search.work, number, count));
        }
    }
    println!("most work: {} steps for {} into {}", most.0, most.1, most.2);
    assert!(most.0 < 200_000, "{} steps for {} into {}", most.0, most.1, most.2);
}

#[test]
fn given_sizes_stay() {
    let mut dims = [0, 4, 0, 0];
    balance(4 * 7488, &mut dims).unwrap();
    assert_eq!(dims, [26, 4, 18, 16]);
    let mut dims = [5, 3];
    balance(15, &mut dims).unwrap();
    assert_eq!(dims, [5, 3]);
    for (nodes, wrong) in [(7, [2, 0]), (6, [2, 2]), (6, [-1, 0]), (6, [i32::MAX, i32::MAX])] {
        let mut dims = wrong;
        assert_eq!(balance(nodes, &mut dims).unwrap_err().class(), ErrorClass::Dims);
        assert_eq!(dims, wrong);
    }
    assert_eq!(balance(0, &mut [0]).unwrap_err().class(), ErrorClass::Arg);
}
