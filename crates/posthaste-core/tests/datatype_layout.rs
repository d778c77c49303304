//! One layout for one set of bytes, however a type was spelled and however many runs it has (MPI-5.0 §5.1; seed 000).

use posthaste_core::datatype::{Datatype, Dimension, Distribution, Order};
use posthaste_core::named::Named;

const BLOCK: Distribution = Distribution::Block;
const CYCLIC: Distribution = Distribution::Cyclic;
const DEFAULT: i64 = posthaste_core::datatype::DEFAULT_DARG;

fn double() -> Datatype {
    Datatype::from(Named::Double)
}

fn dimension(size: i64, distribution: Distribution, darg: i64, processes: i64) -> Dimension {
    Dimension { size, distribution, darg, processes }
}

#[track_caller]
fn same(types: &[Datatype]) -> String {
    for other in &types[1..] {
        assert_eq!(types[0].layout(), other.layout(), "\n{}\n{}", types[0].layout(), other.layout());
    }
    types[0].layout().to_string()
}

/// The part `parts` from `starts` on of a cube of doubles with `edge` in each dimension, in every spelling there is.
fn spellings(edge: i64, parts: [i64; 3], starts: [i64; 3]) -> Vec<Datatype> {
    let double = double();
    let [planes, rows, columns] = parts;
    let strides = [edge * edge * 8, edge * 8, 8];
    let at = |place: [i64; 3]| (0..3).map(|d| (starts[d] + place[d]) * strides[d]).sum::<i64>();
    let mut reversed = [parts, starts];
    reversed.iter_mut().for_each(|list| list.reverse());
    let c = Datatype::subarray(&[edge; 3], &parts, &starts, Order::C, &double).unwrap();
    let fortran =
        Datatype::subarray(&[edge; 3], &reversed[0], &reversed[1], Order::Fortran, &double).unwrap();
    let row = Datatype::contiguous(columns, &double).unwrap();
    let plane = Datatype::hvector(rows, 1, strides[1], &row).unwrap();
    let nested = Datatype::hvector(planes, 1, strides[0], &plane).unwrap();
    let shifted = Datatype::hindexed(&[1], &[at([0; 3])], &nested).unwrap();
    let plane = Datatype::vector(rows, columns, edge, &double).unwrap();
    let of_planes: Vec<i64> = (0..planes).map(|i| at([i, 0, 0])).collect();
    let of_planes = Datatype::hindexed_block(1, &of_planes, &plane).unwrap();
    let of_rows: Vec<i64> = (0..planes).flat_map(|i| (0..rows).map(move |j| at([i, j, 0]) / 8)).collect();
    let of_rows = Datatype::indexed_block(columns, &of_rows, &double).unwrap();
    // Rows of single elements, with the bounds of the element as their own.
    let column = Datatype::resized(&Datatype::hvector(rows, 1, strides[1], &double).unwrap(), 0, 8).unwrap();
    let column_first = Datatype::hvector(columns, 1, 8, &column).unwrap();
    let mut all = vec![c, fortran, shifted, of_planes, of_rows];
    if rows == 1 || columns == 1 {
        let nested = Datatype::hvector(planes, 1, strides[0], &column_first).unwrap();
        all.push(Datatype::hindexed(&[1], &[at([0; 3])], &nested).unwrap());
    }
    all
}

#[test]
fn faces_of_a_large_cube_have_one_layout_each() {
    const N: i64 = 128;
    assert_eq!(same(&spellings(N, [1, N, N], [5, 0, 0])), "@655360 (131072), 131072 bytes in 1 runs");
    assert_eq!(
        same(&spellings(N, [N, 1, N], [0, 5, 0])),
        "@5120 128 x +131072 (1024), 131072 bytes in 128 runs"
    );
    assert_eq!(
        same(&spellings(N, [N, N, 1], [0, 0, 5])),
        "@40 16384 x +1024 (8), 131072 bytes in 16384 runs"
    );
}

#[test]
fn bricks_of_a_large_cube_have_one_layout_each() {
    const N: i64 = 128;
    assert_eq!(
        same(&spellings(N, [100, 90, 2], [1, 2, 3])),
        "@133144 100 x +131072 90 x +1024 (16), 144000 bytes in 9000 runs"
    );
    assert_eq!(
        same(&spellings(N, [N, N - 1, N], [0, 1, 0])),
        "@1024 128 x +131072 (130048), 16646144 bytes in 128 runs"
    );
    same(&spellings(N, [N, 127, 127], [0, 0, 1]));
}

#[test]
fn blocks_of_a_distributed_array_are_subarrays() {
    let double = double();
    for order in [Order::C, Order::Fortran] {
        for rank in 0..8 {
            let place = [rank >> 2, rank >> 1 & 1, rank & 1];
            for darg in [DEFAULT, 64] {
                let grid = [dimension(128, BLOCK, darg, 2); 3];
                let owned = Datatype::darray(8, rank, &grid, order, &double).unwrap();
                let starts = place.map(|at| at * 64);
                same(&[owned, Datatype::subarray(&[128; 3], &[64; 3], &starts, order, &double).unwrap()]);
            }
        }
    }
    // A dimension that one process has for itself, in turns that leave a rest.
    for distribution in [BLOCK, CYCLIC, Distribution::None] {
        for darg in [DEFAULT, 7, 1 << 30] {
            let darg = if distribution == BLOCK { DEFAULT } else { darg };
            let grid = [dimension(128, BLOCK, DEFAULT, 4), dimension(129, distribution, darg, 1)];
            for order in [Order::C, Order::Fortran] {
                let owned = Datatype::darray(4, 2, &grid, order, &double).unwrap();
                let part = Datatype::subarray(&[128, 129], &[32, 129], &[64, 0], order, &double).unwrap();
                same(&[owned, part]);
            }
        }
    }
}

#[test]
fn cyclic_parts_of_a_distributed_array_are_vectors() {
    let double = double();
    // 20000 of 60000 single elements.
    let owned = Datatype::darray(3, 1, &[dimension(60_000, CYCLIC, DEFAULT, 3)], Order::C, &double).unwrap();
    let vector = Datatype::vector(20_000, 1, 3, &double).unwrap();
    same(&[owned, Datatype::hindexed(&[1], &[8], &vector).unwrap()]);
    // Every other row, every fourth pair of columns: both dimensions cyclic, and a rest in neither.
    let grid = [dimension(200, CYCLIC, 1, 2), dimension(160, CYCLIC, 2, 4)];
    let owned = Datatype::darray(8, 5, &grid, Order::C, &double).unwrap();
    let row = Datatype::vector(20, 2, 8, &double).unwrap();
    let rows = Datatype::hvector(100, 1, 2 * 160 * 8, &row).unwrap();
    let shown = same(&[owned, Datatype::hindexed(&[1], &[160 * 8 + 2 * 8], &rows).unwrap()]);
    assert_eq!(shown, "@1296 100 x +2560 20 x +64 (16), 32000 bytes in 2000 runs");
    // A rest: the last block of every row is shorter.
    let grid = [dimension(2000, BLOCK, DEFAULT, 1), dimension(23, CYCLIC, 3, 2)];
    let owned = Datatype::darray(2, 1, &grid, Order::C, &double).unwrap();
    let row = Datatype::indexed(&[3, 3, 3, 2], &[3, 9, 15, 21], &double).unwrap();
    let rows = Datatype::hvector(2000, 1, 23 * 8, &row).unwrap();
    same(&[owned, rows]);
}

#[test]
fn turns_that_touch_are_merged_in_long_loops_as_in_short_ones() {
    let double = double();
    // The first and the last column of a matrix: the last one continues in the first one of the next row.
    let columns = |rows: i64, width: i64| {
        let ends = Datatype::indexed(&[1, 1], &[0, width - 1], &double).unwrap();
        Datatype::contiguous(rows, &ends).unwrap()
    };
    let spelled = |rows: i64, width: i64| {
        let middle = Datatype::vector(rows - 1, 2, width, &double).unwrap();
        let places = [0, (width - 1) * 8, (rows * width - 1) * 8];
        Datatype::structure(&[1, 1, 1], &places, &[double.clone(), middle, double.clone()]).unwrap()
    };
    for rows in [100, 1000, 5000, 1 << 20] {
        same(&[columns(rows, 50), spelled(rows, 50)]);
    }
    // Each block list ends where the next one begins: spelled as a whole it is the same.
    for lengths in [vec![1, 2, 1], vec![2, 2, 2, 2], vec![1, 1, 1, 1, 1, 3], vec![5, 1]] {
        let places: Vec<i64> =
            lengths.iter().scan(0, |at, len| Some(std::mem::replace(at, *at + len + 2))).collect();
        let width = places[places.len() - 1] + lengths[lengths.len() - 1];
        let one = Datatype::indexed(&lengths, &places, &double).unwrap();
        for turns in [40, 300, 3000] {
            let nested = Datatype::contiguous(turns, &one).unwrap();
            let all: Vec<i64> =
                (0..turns).flat_map(|i| places.iter().map(move |at| i * width + at)).collect();
            let flat = Datatype::indexed(&lengths.repeat(turns as usize), &all, &double).unwrap();
            same(&[nested, flat]);
        }
    }
    // Turns longer than any list are left as they are.
    let byte = Datatype::from(Named::Byte);
    let long = Datatype::contiguous(3, &Datatype::vector(1 << 60, 1, 2, &byte).unwrap()).unwrap();
    assert_eq!((long.size(), long.layout().runs()), (3 << 60, 3 << 60));
}
