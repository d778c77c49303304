//! What was measured: values by contender and by name, with best and median, and the tables made of them.
//! What must stay true: contenders are compared only by values of the same rounds.

use std::collections::BTreeMap;

/// All values of all contenders.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    values: BTreeMap<(String, String), Vec<f64>>,
    away: usize,
}

/// What is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    /// Times.
    Lower,
    /// Rates.
    Higher,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The name under which programs report it.
    pub(crate) name: &'static str,
    /// For the table.
    pub(crate) label: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    /// The raw measurement that bounds it, or another row that it should come near.
    pub(crate) limit: Option<&'static str>,
    /// How many times the limit it should take at most; of a rate, how many times slower than the limit it should be at most.
    pub(crate) within: Option<f64>,
    /// What it should be at most, whatever bounds it.
    pub(crate) most: Option<f64>,
    /// How many times as good as the best rival it should be.
    pub(crate) rival_goal: Option<f64>,
    /// The group that `--only` chooses.
    pub(crate) group: &'static str,
}

/// The name under which the limits of the machine are kept.
pub(crate) const LIMIT: &str = "limit";

impl Measured {
    /// Takes the lines `result NAME VALUE UNIT` of a program's output, and `away NAME VALUE UNIT`, which were not measured at
    /// the hand-off that was wanted.
    pub(crate) fn take(&mut self, contender: &str, output: &str) {
        self.take_as("", contender, output);
    }

    /// The same under other names, with a prefix.
    pub(crate) fn take_as(&mut self, prefix: &str, contender: &str, output: &str) {
        for line in output.lines() {
            let mut words = line.split_whitespace();
            if let (Some(word @ ("result" | "away")), Some(name), Some(Ok(value))) =
                (words.next(), words.next(), words.next().map(str::parse))
            {
                self.add(contender, &format!("{prefix}{name}"), value);
                self.away += usize::from(word == "away");
            }
        }
    }

    /// How many values were not measured at the hand-off that was wanted.
    pub(crate) fn away(&self) -> usize {
        self.away
    }

    /// One value.
    pub(crate) fn add(&mut self, contender: &str, name: &str, value: f64) {
        self.values.entry((contender.to_owned(), name.to_owned())).or_default().push(value);
    }

    /// Takes over everything that another one has.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, values) in other.values {
            self.values.entry(key).or_default().extend(values);
        }
    }

    /// Best and median.
    pub(crate) fn best_and_median(&self, contender: &str, name: &str, better: Better) -> Option<(f64, f64)> {
        let mut values = self.values.get(&(contender.to_owned(), name.to_owned()))?.clone();
        values.sort_by(f64::total_cmp);
        let best = if better == Better::Lower { *values.first()? } else { *values.last()? };
        Some((best, values[values.len() / 2]))
    }

    /// All values, in the order of the rounds.
    pub(crate) fn values(&self, contender: &str, name: &str) -> &[f64] {
        self.values.get(&(contender.to_owned(), name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The least and the greatest value.
    pub(crate) fn span(&self, contender: &str, name: &str) -> Option<(f64, f64)> {
        let values = self.values(contender, name).iter().copied();
        Some((values.clone().min_by(f64::total_cmp)?, values.max_by(f64::total_cmp)?))
    }

    /// Of the contenders with this prefix the one that was best, without the prefix.
    pub(crate) fn best_contender(&self, prefix: &str, name: &str, better: Better) -> Option<&str> {
        let names = self.values.keys().filter(|(_, measured)| measured == name);
        let names = names.filter_map(|(contender, _)| Some((contender, contender.strip_prefix(prefix)?)));
        let bests = names
            .filter_map(|(contender, short)| Some((self.best_and_median(contender, name, better)?.0, short)));
        let best = match better {
            Better::Lower => bests.min_by(|a, b| a.0.total_cmp(&b.0)),
            Better::Higher => bests.max_by(|a, b| a.0.total_cmp(&b.0)),
        };
        best.map(|(_, short)| short)
    }

    /// How often this was measured.
    pub(crate) fn count(&self, contender: &str, name: &str) -> usize {
        self.values.get(&(contender.to_owned(), name.to_owned())).map_or(0, Vec::len)
    }

    /// The table of these rows: every contender's best (median), the limit, the ratios, and the goals.
    pub(crate) fn table(&self, rows: &[Row], contenders: &[&str]) -> String {
        let mut text = format!("{:<24}{:>8}", "", "unit");
        for name in contenders {
            text += &format!("{name:>20}");
        }
        text += &format!("{:>12}{:>10}{:>12}  goals\n", "limit", "to limit", "to rivals");
        for row in rows {
            if contenders.iter().all(|c| self.count(c, row.name) == 0) {
                continue;
            }
            text += &self.line(row, contenders);
        }
        text
    }

    fn line(&self, row: &Row, contenders: &[&str]) -> String {
        let mut text = format!("{:<24}{:>8}", row.label, row.unit);
        for name in contenders {
            text += &match self.best_and_median(name, row.name, row.better) {
                Some((best, median)) => format!("{:>20}", format!("{} ({})", short(best), short(median))),
                None => format!("{:>20}", "-"),
            };
        }
        let ours = self.best_and_median(contenders[0], row.name, row.better).map(|(best, _)| best);
        // What bounds a row is a limit of the machine, or another row of ours.
        let bound = |name: &'static str| {
            self.best_and_median(LIMIT, name, row.better)
                .or_else(|| self.best_and_median(contenders[0], name, row.better))
        };
        let limit = row.limit.and_then(bound).map(|(best, _)| best);
        let to_limit = ours.zip(limit).map(|(ours, limit)| ours / limit);
        let to_rivals =
            ours.zip(self.best_rival(row, &contenders[1..])).map(|(ours, rival)| match row.better {
                Better::Lower => rival / ours,
                Better::Higher => ours / rival,
            });
        text += &format!("{:>12}", limit.map_or("-".into(), short));
        text += &format!("{:>10}", to_limit.map_or("-".into(), |r| format!("{r:.2}")));
        text += &format!("{:>12}", to_rivals.map_or("-".into(), |r| format!("{r:.2} x")));
        text + &goals(row, ours, limit, to_rivals) + "\n"
    }

    fn best_rival(&self, row: &Row, rivals: &[&str]) -> Option<f64> {
        let bests = rivals.iter().filter_map(|name| self.best_and_median(name, row.name, row.better));
        let bests = bests.map(|(best, _)| best);
        match row.better {
            Better::Lower => bests.min_by(f64::total_cmp),
            Better::Higher => bests.max_by(f64::total_cmp),
        }
    }
}

/// Whether the goals are met, in words.
fn goals(row: &Row, ours: Option<f64>, limit: Option<f64>, to_rivals: Option<f64>) -> String {
    let mut text = String::new();
    if let (None, Some(is)) = (row.rival_goal, to_rivals)
        && is < 1.0
    {
        text += "  lost to a rival";
    }
    let mut goal =
        |met: bool, words: String| text += &format!("  {} {words}", if met { "met" } else { "MISSED" });
    if let (Some(wanted), Some(is)) = (row.rival_goal, to_rivals) {
        goal(is >= wanted, format!("(>= {wanted} x rivals)"));
    }
    if let (Some(ours), Some(limit), Some(wanted)) = (ours, limit, row.within) {
        match row.better {
            Better::Lower => goal(ours <= wanted * limit, format!("(<= {wanted} x limit)")),
            Better::Higher => goal(wanted * ours >= limit, format!("(>= limit / {wanted})")),
        }
    }
    if let (Some(ours), Some(wanted)) = (ours, row.most) {
        goal(ours <= wanted, format!("(<= {wanted} {})", row.unit));
    }
    if let (Some(ours), Some(limit), "latency_8") = (ours, limit, row.name) {
        let wanted = latency_goal(limit);
        goal(ours <= wanted * limit, format!("(<= {wanted:.2} x limit)"));
    }
    if let (Some(ours), Some(limit), "queues") = (ours, limit, row.group)
        && row.rival_goal.is_some()
    {
        goal(ours <= 1.3 * limit, "(<= 1.3 x empty)".into());
    }
    if let (Some(ours), "x loop", Some(_)) = (ours, row.unit, row.rival_goal) {
        goal(ours >= 0.9, "(>= 0.9 x loop)".into());
    }
    text
}

/// How many hand-offs a short message may take: 1.9 where one takes 0.055 us, 1.35 from 0.15 us on.
fn latency_goal(handoff_us: f64) -> f64 {
    let part = ((handoff_us - 0.055) / (0.15 - 0.055)).clamp(0.0, 1.0);
    1.9 + (1.35 - 1.9) * part
}

/// Three or four digits, whatever the size.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        a if a >= 100.0 => format!("{value:.0}"),
        a if a >= 10.0 => format!("{value:.1}"),
        a if a >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Row = Row {
        name: "latency_8",
        label: "8 B",
        unit: "us",
        better: Better::Lower,
        limit: Some("handoff"),
        within: None,
        most: None,
        rival_goal: Some(1.0),
        group: "latency",
    };

    #[test]
    fn results_are_taken_and_compared() {
        let mut m = Measured::default();
        m.take("a", "noise\nresult latency_8 0.2 us\nresult broken\n");
        assert_eq!(m.away(), 0);
        let mut elsewhere = Measured::default();
        elsewhere.take("a", "result latency_8 0.2 us\naway latency_1024 0.9 us\n");
        assert_eq!((elsewhere.away(), elsewhere.count("a", "latency_1024")), (1, 1));
        m.take("a", "result latency_8 0.1 us\nresult latency_8 0.3 us\n");
        m.take("b", "result latency_8 0.4 us\n");
        m.add(LIMIT, "handoff", 0.055);
        assert_eq!(m.best_and_median("a", "latency_8", Better::Lower), Some((0.1, 0.2)));
        let table = m.table(&[ROW], &["a", "b"]);
        assert!(table.contains("4.00 x") && table.contains("1.82") && !table.contains("MISSED"), "{table}");
    }

    #[test]
    fn a_row_may_be_bound_to_its_limit() {
        let mut m = Measured::default();
        m.add("a", "latency_8", 0.3);
        m.add(LIMIT, "handoff", 0.1);
        let table = |within| m.table(&[Row { within: Some(within), name: "latency_8", ..ROW }], &["a"]);
        assert!(
            table(3.1).contains("met (<= 3.1 x limit)") && table(2.9).contains("MISSED (<= 2.9 x limit)")
        );
    }

    #[test]
    fn a_rate_is_bound_from_below() {
        let mut m = Measured::default();
        m.add(LIMIT, "socket", 2.0);
        let rate = Row { name: "stream", unit: "GB/s", better: Better::Higher, limit: Some("socket"), ..ROW };
        let mut table = |ours| {
            m.values.remove(&("a".to_owned(), "stream".to_owned()));
            m.add("a", "stream", ours);
            m.table(&[Row { within: Some(1.05), ..rate }], &["a"])
        };
        assert!(table(1.5).contains("MISSED (>= limit / 1.05)"), "{}", table(1.5));
        assert!(table(1.95).contains("met (>= limit / 1.05)"), "{}", table(1.95));
    }

    #[test]
    fn a_row_may_have_a_most() {
        let mut m = Measured::default();
        m.add("a", "more", 10.5);
        let table = |most| m.table(&[Row { most: Some(most), name: "more", unit: "ns", ..ROW }], &["a"]);
        assert!(table(11.0).contains("met (<= 11 ns)") && table(10.0).contains("MISSED (<= 10 ns)"));
    }

    #[test]
    fn the_goal_for_latency_depends_on_the_machine() {
        assert!((latency_goal(0.05) - 1.9).abs() < 1e-9);
        assert!((latency_goal(0.5) - 1.35).abs() < 1e-9);
        assert!(latency_goal(0.1) > 1.35 && latency_goal(0.1) < 1.9);
    }
}
