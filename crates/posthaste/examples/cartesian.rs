//! A grid of ranks: who is where, rows and columns as communicators of their own, and neighbours that exchange what they have.

use posthaste::{Operation, balanced_sizes};

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    // Two rows or more; along a row the grid goes round.
    let sizes = balanced_sizes(world.size(), &[0, 0])?;
    let place = world.cartesian_map(&sizes, &[false, true])?;
    let Some(plane) = world.cartesian(&sizes, &[false, true])? else { return Ok(()) };
    assert_eq!(place, Some(plane.rank()));
    assert_eq!(plane.grid()?, [(sizes[0], false), (sizes[1], true)]);
    let at = plane.coordinates(plane.rank())?;

    let column = plane.cartesian_sub(&[true, false])?;
    let row = plane.cartesian_sub(&[false, true])?;
    assert_eq!([column.rank(), row.rank()], [at[0], at[1]]);
    assert_eq!([column.size(), row.size()], sizes[..]);

    // Nobody is above the first row or below the last one.
    let (above, below) = plane.shift(0, 1)?;
    assert_eq!((above.is_none(), below.is_none()), (at[0] == 0, at[0] + 1 == sizes[0]));
    // Along a row there is always somebody, and once round is the rank itself.
    let (left, _) = plane.shift(1, 1)?;
    assert_eq!(left, Some(plane.rank_at(&[at[0] as i32, at[1] as i32 - 1])?));
    assert_eq!(plane.shift(1, sizes[1] as i32)?.0, Some(plane.rank()));

    // Everybody tells its neighbours its rank, in one call.
    let mut around = [usize::MAX; 4];
    plane.neighbor_all_gather(&[plane.rank()], &mut around)?;
    assert_eq!([above.unwrap_or(usize::MAX), left.unwrap_or(usize::MAX)], [around[0], around[2]]);
    let met = around.iter().filter(|rank| **rank != usize::MAX).count();
    let met = plane.all_reduce_one(met, Operation::Sum)?;
    if plane.rank() == 0 {
        println!("{} rows of {} ranks met {met} neighbours", sizes[0], sizes[1]);
    }
    Ok(())
}
