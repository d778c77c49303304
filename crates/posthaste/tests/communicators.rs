//! Communicators and groups of several ranks.

use posthaste::{ANY, Comparison, ErrorClass, SplitType};

mod common;

use common::on_ranks;

#[test]
fn groups_are_sets_in_an_order() {
    on_ranks(5, "groups_are_sets_in_an_order", |world| {
        let all = world.group();
        let (some, odd) = (all.include(&[4, 0, 1])?, all.include_ranges(&[(1, 3, 2)])?);
        assert_eq!(some.translate(&[0, 1, 2], &all)?, [Some(4), Some(0), Some(1)]);
        assert_eq!(all.translate(&[0, 1, 2, 3, 4], &some)?, [Some(1), Some(2), None, None, Some(0)]);
        assert_eq!(some.union(&odd).translate(&[3], &all)?, [Some(3)]);
        assert_eq!(some.intersection(&odd).translate(&[0], &all)?, [Some(1)]);
        assert_eq!(some.difference(&odd).compare(&all.include(&[0, 4])?), Comparison::Similar);
        assert_eq!(all.exclude(&[2, 3])?.compare(&some), Comparison::Similar);
        assert_eq!(all.exclude_ranges(&[(0, 4, 2)])?.compare(&odd), Comparison::Ident);
        assert_eq!(odd.compare(&some), Comparison::Unequal);
        assert_eq!(odd.rank(), (world.rank() % 2 == 1).then(|| world.rank() / 2));
        for wrong in [&[5][..], &[1, 1], &[usize::MAX]] {
            assert_eq!(all.include(wrong).unwrap_err().class(), ErrorClass::Rank);
        }
        assert!(all.include_ranges(&[(0, 3, 0)]).is_err());
        Ok(())
    });
}

#[test]
fn communicators_are_made_of_groups() {
    on_ranks(4, "communicators_are_made_of_groups", |world| {
        let rank = world.rank();
        let backwards = world.group().include_ranges(&[(3, 0, -1)])?;
        let turned = world.create_from(&backwards)?.expect("everybody is in it");
        assert_eq!((turned.rank(), turned.compare(world)), (3 - rank, Comparison::Similar));
        let mut came = [9];
        turned.send_receive(&[rank], (turned.rank() + 1) % 4, 0, &mut came, (turned.rank() + 3) % 4, 0)?;
        assert_eq!(came, [(rank + 1) % 4]);

        let outer = world.group().exclude(&[1, 2])?;
        assert_eq!(world.create_from(&outer)?.is_some(), rank % 3 == 0);
        match outer.rank() {
            Some(mine) => {
                let pair = world.create_group(&outer, 3)?;
                pair.send_one(rank, 1 - mine, 0)?;
                assert_eq!(pair.receive_one::<usize>(1 - mine, 0)?.0, 3 - rank);
            }
            None => assert_eq!(world.create_group(&outer, 3).unwrap_err().class(), ErrorClass::Group),
        }

        let node = world.split_type(SplitType::Shared, -(rank as i32))?;
        assert_eq!((node.size(), node.rank()), (4, 3 - rank), "the ranks of this test share memory");

        // A duplicate has the hints of its original, and not its promises.
        let strict = world.dup()?;
        strict.set_hints([("mpi_assert_no_any_source", "true"), ("own", "word")])?;
        assert_eq!(strict.receive(&mut [0], ANY, 0).unwrap_err().class(), ErrorClass::Rank);
        let again = strict.dup()?;
        assert_eq!(again.hint("own").as_deref(), Some("word"));
        assert!(again.probe_now(ANY, 0)?.is_none());
        Ok(())
    });
}

#[test]
fn two_groups_talk_to_each_other() {
    on_ranks(5, "two_groups_talk_to_each_other", |world| {
        let side = world.rank() % 2;
        let half = world.split(Some(side), 0)?.expect("every rank has a color");
        let bridge = (half.rank() == 0).then_some((world, 1 - side));
        let others = half.intercommunicator(0, bridge, 7)?;
        assert_eq!((others.size(), others.remote_size()), ([3, 2][side], [2, 3][side]));
        assert_eq!((others.rank(), others.remote_group().size()), (half.rank(), others.remote_size()));
        assert_eq!(others.remote_group().rank(), None);
        if half.rank() < 2 {
            // Rank 0 of the other side, and so on; each sends its rank in the world.
            others.send(&[world.rank()], half.rank(), 0)?;
            let (got, status) = others.receive_vec::<usize>(ANY, 0)?;
            assert_eq!((got, status.source()), (vec![world.rank() ^ 1], half.rank()));
        }
        assert_eq!(others.send(&1u8, others.remote_size(), 0).unwrap_err().class(), ErrorClass::Rank);
        // The odd ranks come second.
        let whole = others.merge(side == 1)?;
        assert_eq!((whole.size(), whole.rank()), (5, side * 3 + half.rank()));
        whole.barrier()?;

        // A leader that has no bridge says so to its group, and the other one to its own.
        if side == 0 {
            let error = half.intercommunicator(0, None, 8).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Comm, "{error}");
        }
        Ok(())
    });
}
