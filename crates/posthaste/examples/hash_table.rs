//! A hash table that is spread over all ranks: each of them inserts, counts and looks up by itself, and the rank that has an entry
//! takes no part: `mpiexec -n 4 target/debug/examples/hash_table`.
//!
//! A slot is a key and a number, in one window of `u64`. An insert takes an empty slot (key 0) by compare-and-swap; who finds another
//! key there goes on to the next one. Numbers are added to by an atomic operation, so several ranks can count the same key at once.

use posthaste::{LockEpoch, Operation, Result};

/// Slots of each rank.
const SLOTS: usize = 256;
/// Keys that each rank has for itself.
const OWN: usize = 40;
/// Keys that all ranks count.
const COMMON: u64 = 20;

/// The table, while all ranks have access to it.
struct Table<'a, 'scope, 'env> {
    window: &'a LockEpoch<'scope, 'env, u64>,
    ranks: usize,
}

impl Table<'_, '_, '_> {
    /// The owner of a key, and the slots where it may be, in the order of the search.
    fn places(&self, key: u64) -> (usize, impl Iterator<Item = usize> + use<>) {
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = (hash ^ (hash >> 29)) as usize;
        let first = hash / self.ranks % SLOTS;
        (hash % self.ranks, (first..SLOTS).chain(0..first))
    }

    /// Adds to the number of a key, which is inserted where it is missing. Returns what it was.
    fn add(&self, key: u64, number: u64) -> Result<u64> {
        let (owner, slots) = self.places(key);
        for slot in slots {
            let before = self.window.compare_and_swap(0, key, owner, 2 * slot)?;
            if before == 0 || before == key {
                return self.window.fetch_and_op(number, owner, 2 * slot + 1, Operation::Sum);
            }
        }
        panic!("the table of rank {owner} is full");
    }

    /// The number of a key, if it is there. All inserts are over.
    fn get(&self, key: u64) -> Result<Option<u64>> {
        let (owner, slots) = self.places(key);
        for slot in slots {
            let mut entry = [0; 2];
            self.window.flushed(|part| part.get(&mut entry, owner, 2 * slot))?;
            match entry {
                [there, number] if there == key => return Ok(Some(number)),
                [0, _] => break,
                _ => {}
            }
        }
        Ok(None)
    }
}

fn own_key(rank: usize, i: usize) -> u64 {
    (1000 + rank * OWN + i) as u64
}

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let mut window = world.window().allocate::<u64>(2 * SLOTS)?;
    window.lock_all(|epoch| {
        let table = Table { window: epoch, ranks: size };
        for key in (0..OWN).map(|i| own_key(rank, i)) {
            table.add(key, key * 3)?;
        }
        // Every rank counts the same keys, in an order of its own.
        for i in 0..COMMON {
            table.add(1 + (i + 7 * rank as u64) % COMMON, 1)?;
        }
        world.barrier()?;

        // What the next rank has inserted, and what all have counted.
        for key in (0..OWN).map(|i| own_key((rank + 1) % size, i)) {
            assert_eq!(table.get(key)?, Some(key * 3), "key {key}");
        }
        for key in 1..=COMMON {
            assert_eq!(table.get(key)?, Some(size as u64), "key {key}");
        }
        assert_eq!(table.get(999)?, None, "nobody has inserted this");
        world.barrier()
    })?;

    // No key has two slots.
    let taken = window.lock_own(|slots| slots.chunks_exact(2).filter(|slot| slot[0] != 0).count())?;
    let all = world.all_reduce_one(taken, Operation::Sum)?;
    assert_eq!(all, size * OWN + COMMON as usize);
    if rank == 0 {
        println!("{all} keys of {size} ranks");
    }
    window.free()
}
