//! Communicators and groups of several ranks.

use posthaste::{
    ANY, Communicator, Comparison, ErrorClass, Intercommunicator, Operation, Result, Root, SplitType,
};

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
        let host = world.split_by_hardware(Some("mpi_shared_memory"), 0)?.expect("every rank is on a host");
        assert_eq!((host.size(), host.rank()), (4, rank));
        assert!(world.split_by_hardware(Some("hwloc://Oven"), 0)?.is_none(), "nobody has one");
        // Each level has fewer ranks and says what they share, down to where nothing divides them.
        let mut level = host;
        while let Some(part) = level.split_by_hardware(None, 0)? {
            assert!(part.size() < level.size() && part.hint("mpi_hw_resource_type").is_some());
            level = part;
        }
        // Of ranks that do not all want the same nobody is told anything.
        let kind = (rank == 0).then_some("mpi_shared_memory");
        assert!(world.split_by_hardware(kind, 0).is_err());

        // A duplicate has no hints of its original, and makes none of its promises.
        let strict = world.dup()?;
        strict.set_hints([("mpi_assert_no_any_source", "true"), ("own", "word")])?;
        assert_eq!(strict.receive(&mut [0], ANY, 0).unwrap_err().class(), ErrorClass::Rank);
        let again = strict.dup()?;
        assert_eq!(again.hint("own"), None);
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
            assert_eq!((got, status.source()), (vec![world.rank() ^ 1], Some(half.rank())));
        }
        assert_eq!(others.send(&1u8, others.remote_size(), 0).unwrap_err().class(), ErrorClass::Rank);
        between(&others, world, side)?;
        started_between(&others, world, side)?;
        kept_between(&others, world, side)?;

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

/// What two groups do together: `side` is 0 in that of the even ranks, and 1 in the other.
fn between(others: &Intercommunicator<'_>, world: &Communicator<'_>, side: usize) -> Result<()> {
    let (mine, number) = (others.rank(), others.remote_size());
    // Ranks of the other group in the world.
    let theirs: Vec<usize> = (0..number).map(|rank| 2 * rank + 1 - side).collect();
    for (root_side, root_rank) in [(0, 0), (0, 2), (1, 0), (1, 1)] {
        let root = match (side == root_side, mine == root_rank) {
            (true, true) => Root::Me,
            (true, false) => Root::OfMyGroup,
            (false, _) => Root::Other(root_rank),
        };
        let (is_root, gets) = (root == Root::Me, side != root_side);
        let mut word = vec![if is_root { 7 + root_rank } else { 0 }; 5000];
        others.broadcast(&mut word, root)?;
        assert!(word.iter().all(|word| *word == if is_root || gets { 7 + root_rank } else { 0 }));

        let mut all = vec![0; if is_root { number } else { 0 }];
        others.gather(&[world.rank()], &mut all, root)?;
        assert!(!is_root || all == theirs);
        // From the rank r of the other group come r numbers, and go to it.
        let counts: Vec<usize> = (0..number).collect();
        let mut all = vec![0; if is_root { counts.iter().sum() } else { 0 }];
        others.gather_varying(
            &vec![world.rank(); mine],
            &mut all,
            if is_root { &counts[..] } else { &[] },
            root,
        )?;
        let triangle: Vec<usize> = counts.iter().flat_map(|count| vec![theirs[*count]; *count]).collect();
        assert!(!is_root || all == triangle);
        let mut got = vec![0; mine];
        others.scatter_varying(&all, if is_root { &counts[..] } else { &[] }, &mut got, root)?;
        assert!(!gets || got == vec![world.rank(); mine]);
        let mut got = [0];
        others.scatter(if is_root { &theirs[..] } else { &[] }, &mut got, root)?;
        assert!(!gets || got == [world.rank()]);

        let mut sum = [0];
        others.reduce(&[world.rank()], &mut sum, Operation::Sum, root)?;
        assert!(!is_root || sum == [theirs.iter().sum()]);
    }
    let mut all = vec![0; number];
    others.all_gather(&[world.rank()], &mut all)?;
    assert_eq!(all, theirs);
    let counts: Vec<usize> = (0..number).collect();
    let mut varying = vec![0; counts.iter().sum()];
    others.all_gather_varying(&vec![world.rank(); mine], &mut varying, &counts)?;
    assert_eq!(varying, counts.iter().flat_map(|count| vec![theirs[*count]; *count]).collect::<Vec<_>>());

    let to_each: Vec<usize> = theirs.iter().map(|rank| 100 * world.rank() + rank).collect();
    others.all_to_all(&to_each, &mut all)?;
    assert!(all.iter().zip(&theirs).all(|(got, from)| *got == 100 * from + world.rank()));
    others.all_to_all_varying(&to_each, vec![1; number], &mut all, vec![1; number])?;
    assert!(all.iter().zip(&theirs).all(|(got, from)| *got == 100 * from + world.rank()));

    let longest = Operation::from_fn(
        |incoming: &[usize], result: &mut [usize]| {
            incoming.iter().zip(result).for_each(|(incoming, result)| *result = (*result).max(*incoming));
        },
        true,
    );
    let mut most = [0; 2];
    others.all_reduce(&[world.rank(), 5], &mut most, &longest)?;
    assert_eq!(most, [theirs[number - 1], 5]);
    others.barrier()?;

    // Messages of all forms.
    let messages = others.messages();
    let peer = Some(mine).filter(|rank| *rank < number);
    let mut room = [0];
    let mine_too = [world.rank()];
    messages.scope(|s| s.send_receive(&mine_too, peer, 1, &mut room, peer, 1).map(drop))?;
    let mut send = messages.persistent_send(&[world.rank()], peer, 2)?;
    send.start()?;
    assert_eq!(messages.receive_one::<usize>(peer, 2)?.0, peer.map_or(0, |peer| theirs[peer]));
    assert_eq!(room[0], peer.map_or(0, |peer| theirs[peer]));
    send.wait()?;

    // What is wrong is found before anybody waits.
    let class = |result: Result<()>| result.unwrap_err().class();
    assert_eq!(class(others.broadcast(&mut [0], Root::Other(number))), ErrorClass::Root);
    assert_eq!(class(others.all_gather(&[0], &mut vec![0; number + 1])), ErrorClass::Count);
    assert_eq!(class(others.gather(&[0], &mut vec![0; number + 1], Root::Me)), ErrorClass::Count);
    for error in [
        messages.barrier().unwrap_err(),
        messages.scope(|s| s.barrier().map(drop)).unwrap_err(),
        messages.barrier_async().wait().0.unwrap_err(),
        messages.persistent(vec![0], vec![0], |plans, _, all| plans.broadcast(all, 0)).map(drop).unwrap_err(),
        messages.all_reduce_one(1, Operation::Sum).unwrap_err(),
        messages.dup().map(drop).unwrap_err(),
        messages.split(Some(0), 0).map(drop).unwrap_err(),
        messages.adjacent_graph(&[], &[]).map(drop).unwrap_err(),
        messages.distributed_graph(&[]).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.class(), ErrorClass::Comm, "{error}");
        assert!(error.to_string().contains("the messages of an intercommunicator"), "{error}");
    }
    Ok(())
}

/// The nonblocking forms, several under way at a time.
fn started_between(others: &Intercommunicator<'_>, world: &Communicator<'_>, side: usize) -> Result<()> {
    let (mine, number, whole) = ([world.rank()], others.remote_size(), others.size() * others.remote_size());
    let theirs: Vec<usize> = (0..number).map(|rank| 2 * rank + 1 - side).collect();
    let sum: usize = theirs.iter().sum();
    let (ranks, root_side) = (vec![1; number], 1);
    let root = match (side == root_side, others.rank()) {
        (true, 0) => Root::Me,
        (true, _) => Root::OfMyGroup,
        (false, _) => Root::Other(0),
    };
    let (is_root, gets) = (root == Root::Me, side != root_side);
    let rooms = || vec![0; if is_root { number } else { 0 }];
    let (mut word, mut gathered, mut varying, mut part, mut single) = ([0; 3], rooms(), rooms(), [0], [0]);
    let (mut all, mut all_varying, mut came, mut came_varying) =
        (vec![0; number], vec![0; number], vec![0; number], vec![0; number]);
    let (mut total, mut totals, mut block, mut first) =
        ([0], [0], vec![0; number], vec![0; if others.rank() == 0 { whole } else { 0 }]);
    let (to_each, long) = (vec![world.rank(); number], vec![world.rank(); whole]);
    let counts: Vec<usize> = (0..others.size()).map(|rank| if rank == 0 { whole } else { 0 }).collect();
    if is_root {
        word = [7; 3];
    }
    others.scope(|s| {
        s.barrier()?;
        s.broadcast(&mut word, root)?;
        s.gather(&mine, &mut gathered, root)?;
        s.gather_varying(&mine, &mut varying, if is_root { &ranks[..] } else { &[] }, root)?;
        s.scatter(if is_root { &theirs[..] } else { &[] }, &mut part, root)?;
        let of_each = if is_root { &ranks[..] } else { &[] };
        s.scatter_varying(if is_root { &theirs[..] } else { &[] }, of_each, &mut single, root)?;
        s.all_gather(&mine, &mut all)?;
        s.all_gather_varying(&mine, &mut all_varying, &ranks)?;
        s.all_to_all(&to_each, &mut came)?;
        s.all_to_all_varying(&to_each, &ranks, &mut came_varying, &ranks)?;
        s.reduce(&mine, &mut total, Operation::Sum, root)?;
        s.reduce_scatter_block(&long, &mut block, Operation::Sum)?;
        s.reduce_scatter(&long, &mut first, &counts, Operation::Sum)?;
        s.all_reduce(&mine, &mut totals, Operation::Sum)?.wait().map(drop)
    })?;
    assert!(word == if is_root || gets { [7; 3] } else { [0; 3] });
    assert!(!is_root || (gathered == theirs && varying == theirs && total == [sum]));
    assert!(!gets || (part == mine && single == mine));
    assert_eq!([&all, &all_varying, &came, &came_varying], [&theirs; 4]);
    assert_eq!(totals, [sum]);
    assert!(block.iter().chain(&first).all(|got| *got == sum));

    // The blocking forms that have no other test, and messages in the same scope.
    others.reduce_scatter_block(&long, &mut block, Operation::Maximum)?;
    others.reduce_scatter(&long, &mut first, &counts, Operation::Maximum)?;
    assert!(block.iter().chain(&first).all(|got| *got == theirs[number - 1]));
    let peer = Some(others.rank()).filter(|rank| *rank < number);
    let mut got = [0];
    others.scope_async(async |s| {
        let incoming = s.receive(&mut got, peer, 9)?;
        s.send(&mine, peer, 9)?.await?;
        s.all_reduce(&mine, &mut totals, Operation::Minimum)?.await?;
        incoming.await.map(drop)
    })?;
    assert_eq!((got[0], totals), (peer.map_or(0, |peer| theirs[peer]), [theirs[0]]));

    // What is wrong is found before anybody waits.
    let class = |result: Result<()>| result.unwrap_err().class();
    let mut room = vec![0; number + 1];
    assert_eq!(class(others.scope(|s| s.all_gather(&mine, &mut room).map(drop))), ErrorClass::Count);
    assert_eq!(class(others.reduce_scatter(&long, &mut [], &[whole], Operation::Sum)), ErrorClass::Count);
    let refused = others.scope(|s| s.scan(&mine, &mut part, Operation::Sum).map(drop));
    assert_eq!(class(refused), ErrorClass::Comm, "it needs one order of all ranks");
    Ok(())
}

/// The persistent forms.
fn kept_between(others: &Intercommunicator<'_>, world: &Communicator<'_>, side: usize) -> Result<()> {
    let number = others.remote_size();
    let theirs: Vec<usize> = (0..number).map(|rank| 2 * rank + 1 - side).collect();
    let mut gather =
        others.persistent(vec![0], vec![0; number], |plans, data, all| plans.all_gather(data, all))?;
    let mut sum = others.persistent(vec![0; 2], vec![0; 2], |plans, data, result| {
        plans.all_reduce(data, result, Operation::Sum)
    })?;
    let root = match (side, others.rank()) {
        (0, 0) => Root::Me,
        (0, _) => Root::OfMyGroup,
        _ => Root::Other(0),
    };
    let mut word = others.persistent(vec![], vec![0], |plans, _, word| plans.broadcast(word, root))?;
    for turn in 1..4 {
        gather.data_mut()[0] = turn * world.rank();
        sum.data_mut().fill(turn);
        if root == Root::Me {
            word.result_mut()[0] = turn;
        }
        let (gathers, sums, words) = (gather.start()?, sum.start()?, word.start()?);
        words.wait()?;
        sums.wait()?;
        gathers.wait()?;
        assert!(gather.result().iter().zip(&theirs).all(|(got, rank)| *got == turn * rank));
        assert_eq!(sum.result(), [turn * number; 2]);
        assert!(side == 0 || word.result() == [turn]);
    }
    Ok(())
}
