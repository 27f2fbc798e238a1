//! The lanes of a run, and the indexes by which they are reached.

use super::lane::Lane;
use std::ops::{Index, IndexMut};

/// Lanes in the order of their numbers; none is ever taken away.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Lanes(Vec<Lane>);

/// Index of a lane that is there: only [`Lanes`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaneIndex(usize);

impl LaneIndex {
    /// Tells whether it is the first lane's.
    pub(super) fn is_first(self) -> bool {
        self.0 == 0
    }
}

impl Lanes {
    /// Adds lanes.
    pub(super) fn extend(&mut self, lanes: impl IntoIterator<Item = Lane>) {
        self.0.extend(lanes);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Lane> {
        self.0.iter()
    }

    /// Returns the indexes of all lanes.
    pub(super) fn indexes(&self) -> impl Iterator<Item = LaneIndex> + use<> {
        (0..self.0.len()).map(LaneIndex)
    }

    /// Returns the index of the lane with this number, if there is one.
    pub(super) fn numbered(&self, number: u32) -> Option<LaneIndex> {
        let mut indexes = self.indexes();
        indexes.find(|index| self[*index].number == number)
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "an index is made of a lane that is there, and none is taken away"
)]
impl Index<LaneIndex> for Lanes {
    type Output = Lane;

    fn index(&self, index: LaneIndex) -> &Lane {
        &self.0[index.0]
    }
}

#[expect(clippy::indexing_slicing, reason = "as above")]
impl IndexMut<LaneIndex> for Lanes {
    fn index_mut(&mut self, index: LaneIndex) -> &mut Lane {
        &mut self.0[index.0]
    }
}
