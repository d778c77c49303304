//! `PMI_process_mapping`: on which node each rank of a job runs, as launchers of the PMI family publish it.
//!
//! The text is a list of blocks (first node, number of nodes, ranks on each of them), `(vector,(0,2,4))`, which ranks
//! fill in order and begin again when the list is at its end. MPICH's Hydra, Slurm and Flux write it, with or without
//! spaces. What must stay true: no text panics or makes us ask for more memory than the ranks of the job need.

/// The node of each of `ranks` ranks; `None` when the text says nothing of that kind.
pub fn parse(text: &str, ranks: usize) -> Option<Vec<u32>> {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let inside = text.strip_prefix("(vector,")?.strip_suffix(')')?;
    let mut blocks: Vec<[u32; 3]> = inside.split_inclusive(')').map(block).collect::<Option<_>>()?;
    blocks.retain(|[_, nodes, each]| *nodes > 0 && *each > 0);
    if blocks.is_empty() {
        return None;
    }
    let nodes = blocks.iter().flat_map(|&[first, nodes, each]| {
        (0..nodes).flat_map(move |node| std::iter::repeat_n(first.checked_add(node), each as usize))
    });
    nodes.cycle().take(ranks).collect()
}

/// `(first node, nodes, ranks on each)`, behind a comma if it is not the first.
fn block(text: &str) -> Option<[u32; 3]> {
    let text = text.strip_prefix(',').unwrap_or(text).strip_prefix('(')?.strip_suffix(')')?;
    let mut numbers = text.split(',').map(str::parse);
    let block = [numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?];
    numbers.next().is_none().then_some(block)
}

/// Longest mapping that is written out in full: libraries of the family read lines of 1024 bytes.
const LONG: usize = 900;

/// The text for ranks that run on these nodes.
pub fn emit(nodes: &[usize]) -> String {
    // Runs of ranks on one node, then runs of such runs on consecutive nodes.
    let mut blocks: Vec<(usize, usize, usize)> = Vec::new();
    for run in nodes.chunk_by(|a, b| a == b) {
        match blocks.last_mut() {
            Some((first, count, each)) if *first + *count == run[0] && *each == run.len() => *count += 1,
            _ => blocks.push((run[0], 1, run.len())),
        }
    }
    let words = |blocks: &[(usize, usize, usize)]| -> String {
        let blocks: Vec<String> =
            blocks.iter().map(|(first, count, each)| format!("({first},{count},{each})")).collect();
        format!("(vector,{})", blocks.join(","))
    };
    let full = words(&blocks);
    if full.len() <= LONG {
        return full;
    }
    // The last round may stop early.
    let covers = |period: usize| {
        let expanded = blocks[..period].iter().cycle().flat_map(|&(first, count, each)| {
            (first..first + count).flat_map(move |node| std::iter::repeat_n(node, each))
        });
        expanded.take(nodes.len()).eq(nodes.iter().copied())
    };
    let period = (1..blocks.len()).find(|&period| covers(period)).unwrap_or(blocks.len());
    words(&blocks[..period])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_are_filled_in_order() {
        for (text, nodes) in [
            ("(vector,(0,1,4))", &[0, 0, 0, 0][..]),
            ("(vector,(0,2,2))", &[0, 0, 1, 1]),
            ("(vector, (0,2,1))", &[0, 1, 0, 1]),
            ("(vector,(0,1,3),(1,1,1))", &[0, 0, 0, 1]),
            ("(vector,(1,1,1),(0,1,2))", &[1, 0, 0, 1]),
            ("(vector,(0,4294967295,0),(3,4,1))", &[3, 4, 5, 6]),
        ] {
            assert_eq!(parse(text, 4).as_deref(), Some(nodes), "{text}");
        }
    }

    #[test]
    fn anything_else_says_nothing() {
        let wrong = [
            "",
            "(vector)",
            "(vector,)",
            "(vector,(0,1,0))",
            "(vector,(0,1))",
            "(vector,(0,1,1,1))",
            "(vector,(0,-1,1))",
            "(vector,(0,1,1)",
            "(vector,0,1,1)",
            "(block,(0,1,1))",
            "(vector,(4294967295,2,1))",
        ];
        for text in wrong {
            assert_eq!(parse(text, 4), None, "{text}");
        }
        assert_eq!(parse("(vector,(0,4294967295,4294967295))", 2), Some(vec![0, 0]));
    }

    #[test]
    fn a_long_mapping_is_said_by_its_period() {
        let nodes = |count: usize| (0..count).map(|rank| rank % 2).collect::<Vec<_>>();
        assert_eq!(emit(&nodes(6)), "(vector,(0,2,1),(0,2,1),(0,2,1))");
        assert_eq!(emit(&nodes(1001)), "(vector,(0,2,1))");
        assert_eq!(emit(&[0; 70_000]), "(vector,(0,1,70000))");
    }

    proptest! {
        #[test]
        fn what_is_said_is_understood(nodes in prop::collection::vec(0usize..4, 1..300), times in 1usize..4) {
            let nodes = nodes.repeat(times);
            let read = parse(&emit(&nodes), nodes.len()).unwrap();
            prop_assert!(read.into_iter().eq(nodes.iter().map(|&node| node as u32)));
        }

        #[test]
        fn no_text_panics(text in "[(),vector0-9 ]{0,40}", ranks in 0usize..9) {
            if let Some(nodes) = parse(&text, ranks) {
                prop_assert_eq!(nodes.len(), ranks);
            }
        }
    }
}
