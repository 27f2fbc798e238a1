//! Best chain of equal lines: dynamic programming over the places where the
//! lines of a quote stand in a file.
//!
//! A chain takes some lines of the quote, in order, to lines of the file, in
//! order. It gains the weight of every line that it takes and pays for lines
//! of the quote that it skips and for gaps in the file. The work is bounded by
//! the number of rows times the number of places.

/// Price of a gap in the file.
const GAP: i64 = 50;

/// A gap costs one point more for each line, up to this many lines.
const LONGEST_GAP: usize = 150;

/// Price of a gap between two rows that a change depends on side by side.
const TORN: i64 = 400;

/// Price of skipping a required row.
const FORBIDDEN: i64 = 1 << 40;

/// Score of no chain at all.
const NONE: i64 = i64::MIN / 4;

/// One line of a quote.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// Its index in the quote.
    pub(super) line: usize,
    /// The places in the file, ascending, each with the points that the line
    /// gains there.
    pub(super) places: Vec<(usize, i64)>,
    /// Points lost where the line is skipped.
    pub(super) loss: i64,
    /// True when every chain has to take this line.
    pub(super) required: bool,
    /// The relation to the row before.
    pub(super) joint: Joint,
}

/// Closeness of a row to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// Lines may be left out between them.
    Loose,
    /// A change depends on the two standing side by side.
    Tight,
    /// The quote says that lines are left out here.
    Open,
}

impl Joint {
    /// The price of any gap; its length comes on top.
    fn price(self) -> i64 {
        match self {
            Self::Loose => GAP,
            Self::Tight => TORN,
            Self::Open => 0,
        }
    }
}

/// A place of a row, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) row: usize,
    pub(super) at: usize,
}

/// The score of the best chain that ends at a place, and the place before it in that chain.
type Link = (i64, Option<Slot>);

/// The best chain through every place of every row.
#[derive(Debug)]
pub(super) struct Chains {
    through: Vec<Vec<i64>>,
    /// The best chain that ends at every place.
    before: Vec<Vec<Link>>,
    /// The best chain that begins at every place.
    after: Vec<Vec<Link>>,
}

impl Chains {
    /// Computes all chains.
    pub(super) fn of(rows: &[Row]) -> Self {
        let before = links(rows);
        let after = turned(links(&reversed(rows)));
        let through = rows
            .iter()
            .zip(before.iter().zip(&after))
            .map(|(row, (ahead, behind))| {
                let both = ahead.iter().zip(behind).zip(&row.places);
                both.map(|(((a, _), (b, _)), (_, gain))| a + b - gain)
                    .collect()
            })
            .collect();
        Self {
            through,
            before,
            after,
        }
    }

    /// Returns the score of the best chain and one place of it; `None` when a
    /// required row has no place.
    pub(super) fn best(&self) -> Option<(i64, Slot)> {
        (0..self.through.len())
            .filter_map(|row| self.best_of(row, None))
            .max_by_key(|(score, slot)| (*score, std::cmp::Reverse(slot.row)))
    }

    /// Returns the score of the best chain through a place.
    pub(super) fn through(&self, slot: Slot) -> i64 {
        let row = self.through.get(slot.row);
        row.and_then(|row| row.get(slot.at))
            .map_or(NONE, |score| *score)
    }

    /// Returns the score of the best chain that takes a row to another place
    /// than this one, and that place.
    pub(super) fn rival(&self, than: Slot) -> Option<(i64, Slot)> {
        self.best_of(than.row, Some(than.at))
    }

    fn best_of(&self, row: usize, but: Option<usize>) -> Option<(i64, Slot)> {
        let scores = self.through.get(row)?.iter().enumerate();
        scores
            .filter(|(at, score)| Some(*at) != but && **score > -FORBIDDEN / 2)
            .max_by_key(|(at, score)| (**score, std::cmp::Reverse(*at)))
            .map(|(at, score)| (*score, Slot { row, at }))
    }

    /// Returns the best chain through a place, in order.
    pub(super) fn chain(&self, through: Slot) -> Vec<Slot> {
        let step = |links: &[Vec<Link>], slot: Slot| links.get(slot.row)?.get(slot.at)?.1;
        let mut slots: Vec<Slot> =
            std::iter::successors(Some(through), |slot| step(&self.before, *slot)).collect();
        slots.reverse();
        slots.extend(std::iter::successors(step(&self.after, through), |slot| {
            step(&self.after, *slot)
        }));
        slots
    }
}

/// The rows from the last to the first, the file from its end to its start.
fn reversed(rows: &[Row]) -> Vec<Row> {
    let places = rows.iter().filter_map(|row| row.places.last());
    let end = places.map(|(place, _)| *place).max().unwrap_or(0);
    let joints = rows.iter().skip(1).map(|row| row.joint);
    let joints: Vec<Joint> = joints.chain([Joint::Loose]).collect();
    rows.iter()
        .zip(joints)
        .rev()
        .map(|(row, joint)| {
            let places = row.places.iter().rev();
            Row {
                places: places.map(|(place, gain)| (end - place, *gain)).collect(),
                joint,
                ..*row
            }
        })
        .collect()
}

/// Computes one direction: the best chain that ends at each place of each row.
fn links(rows: &[Row]) -> Vec<Vec<Link>> {
    let mut settled = Ends::new(rows);
    let mut last = settled.clone();
    let mut skipped = 0_i64;
    let mut links = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        let far = settled.reach(row, Joint::Loose);
        let near = last.reach(row, row.joint);
        settled.absorb(&mut last);
        let loss = if row.required { FORBIDDEN } else { row.loss };
        let mut of_row = Vec::with_capacity(row.places.len());
        let places = row.places.iter().zip(far.into_iter().zip(near));
        for (at, ((place, gain), (far, near))) in places.enumerate() {
            let (before, slot) = if far.0 > near.0 { far } else { near };
            let score = before.max(0) - skipped + gain;
            let end = (score + skipped + loss, Slot { row: number, at });
            if let Ok(column) = last.columns.binary_search(place)
                && let Some(best) = last.best.get_mut(column)
            {
                *best = end;
            }
            // A chain that begins here has nothing but the rows skipped.
            of_row.push((score, (before > 0).then_some(slot)));
        }
        skipped += loss;
        links.push(of_row);
    }
    links
}

/// Turns the rows, their places and the links between them around.
fn turned(mut links: Vec<Vec<Link>>) -> Vec<Vec<Link>> {
    let counts: Vec<usize> = links.iter().map(Vec::len).collect();
    let turned = |slot: Slot| {
        Some(Slot {
            row: counts.len().checked_sub(slot.row + 1)?,
            at: counts.get(slot.row)?.checked_sub(slot.at + 1)?,
        })
    };
    links.reverse();
    for row in &mut links {
        row.reverse();
        for (_, origin) in row {
            *origin = origin.and_then(turned);
        }
    }
    links
}

/// The best chains that end at each column. A column is a line of the file
/// where any row has a place; a score is kept with all losses up to its row
/// added, so that those behind it can be taken off at once.
#[derive(Debug, Clone)]
struct Ends {
    columns: Vec<usize>,
    best: Vec<(i64, Slot)>,
}

impl Ends {
    fn new(rows: &[Row]) -> Self {
        let places = rows.iter().flat_map(|row| &row.places);
        let mut columns: Vec<usize> = places.map(|(place, _)| *place).collect();
        columns.sort_unstable();
        columns.dedup();
        let none = (NONE, Slot { row: 0, at: 0 });
        Self {
            best: vec![none; columns.len()],
            columns,
        }
    }

    /// Takes over the ends of another row that are better, and empties it.
    fn absorb(&mut self, other: &mut Self) {
        for (mine, theirs) in self.best.iter_mut().zip(&mut other.best) {
            if theirs.0 > mine.0 {
                *mine = *theirs;
            }
            theirs.0 = NONE;
        }
    }

    /// Returns for each place of a row the best chain that can go on there,
    /// the gap paid for.
    fn reach(&self, row: &Row, joint: Joint) -> Vec<(i64, Slot)> {
        let none = (NONE, Slot { row: 0, at: 0 });
        // Chains for which the length of the gap counts, and any chains.
        let (mut near, mut far) = (none, none);
        let mut ends = self.columns.iter().zip(&self.best).peekable();
        let number = |line: usize| line.cast_signed() as i64;
        let longest = number(LONGEST_GAP);
        row.places
            .iter()
            .map(|(place, _)| {
                while let Some((column, (score, slot))) =
                    ends.next_if(|(column, _)| **column + 1 < *place)
                {
                    if score + number(*column) > near.0 {
                        near = (score + number(*column), *slot);
                    }
                    if *score > far.0 {
                        far = (*score, *slot);
                    }
                }
                let beside = ends.peek().filter(|(column, _)| **column + 1 == *place);
                let gap = near.0 + 1 - number(*place) - joint.price();
                let long = far.0 - longest - joint.price();
                let mut best = (gap, near.1);
                if long > best.0 {
                    best = (long, far.1);
                }
                match beside {
                    Some((_, end)) if end.0 > best.0 => **end,
                    _ => best,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Chains, Joint, Row, Slot};

    fn row(places: &[usize], joint: Joint) -> Row {
        Row {
            line: 0,
            places: places.iter().map(|place| (*place, 100)).collect(),
            loss: 100,
            required: false,
            joint,
        }
    }

    fn taken(rows: &[Row]) -> (i64, Vec<(usize, usize)>) {
        let chains = Chains::of(rows);
        let (score, slot) = chains.best().unwrap();
        let chain = chains.chain(slot);
        let places = chain
            .iter()
            .map(|slot| (slot.row, rows[slot.row].places[slot.at].0));
        (score, places.collect())
    }

    #[test]
    fn takes_the_lines_in_order() {
        let loose = |places: &[usize]| row(places, Joint::Loose);
        for (rows, score, expected) in [
            (
                vec![loose(&[3, 40]), loose(&[9, 41]), loose(&[10, 42])],
                300,
                vec![(0, 40), (1, 41), (2, 42)],
            ),
            (vec![loose(&[3]), loose(&[5])], 149, vec![(0, 3), (1, 5)]),
            (
                vec![loose(&[3]), loose(&[4]), loose(&[900]), loose(&[901])],
                200,
                vec![(0, 3), (1, 4), (2, 900), (3, 901)],
            ),
            (
                vec![loose(&[3]), loose(&[]), loose(&[4])],
                100,
                vec![(0, 3), (2, 4)],
            ),
            (vec![loose(&[9]), loose(&[3])], 0, vec![(0, 9)]),
        ] {
            assert_eq!(taken(&rows), (score, expected), "{rows:?}");
        }
    }

    #[test]
    fn pays_more_for_torn_rows_and_nothing_for_open_ones() {
        for (joint, score) in [(Joint::Loose, 446), (Joint::Tight, 96), (Joint::Open, 496)] {
            let mut rows = vec![
                row(&[1], Joint::Loose),
                row(&[2], Joint::Loose),
                row(&[3], Joint::Loose),
            ];
            rows.extend([row(&[8], joint), row(&[9], Joint::Loose)]);
            for row in &mut rows[2..4] {
                row.required = true;
            }
            assert_eq!(taken(&rows).0, score, "{joint:?}");
        }
    }

    #[test]
    fn a_required_row_has_a_place_or_there_is_no_chain() {
        let mut rows = vec![row(&[1], Joint::Loose), row(&[], Joint::Loose)];
        rows[1].required = true;
        assert!(Chains::of(&rows).best().is_none());
    }

    #[test]
    fn names_the_rival_of_a_place() {
        let rows = [row(&[1, 50], Joint::Loose), row(&[2], Joint::Loose)];
        let chains = Chains::of(&rows);
        assert_eq!(
            chains.rival(Slot { row: 0, at: 0 }),
            Some((0, Slot { row: 0, at: 1 }))
        );
        assert_eq!(chains.rival(Slot { row: 1, at: 0 }), None);
    }
}
