//! The one walk over a syntax tree that every extractor shares.
//!
//! It goes down and up with a cursor and a stack of its own, so that deep
//! nesting costs memory and not the program's stack.

use tree_sitter::{Node, Tree, TreeCursor};

/// An extractor, called at each node.
pub(crate) trait Visitor {
    /// Called on the way down. Returns whether the children are visited.
    fn enter(&mut self, place: &NodeContext<'_, '_>) -> bool;
    /// Called when everything at `depth` and below is done.
    fn leave(&mut self, depth: u32);
}

/// A node and what is known about its surroundings.
pub(crate) struct NodeContext<'p, 't> {
    pub(crate) node: Node<'t>,
    /// Its depth; the root has 0.
    pub(crate) depth: u32,
    cursor: &'p TreeCursor<'t>,
    parents: &'p [Node<'t>],
}

impl<'t> NodeContext<'_, 't> {
    /// The number of the field that the node fills in its parent, 0 for none.
    pub(crate) fn field(&self) -> u16 {
        self.cursor.field_id().map_or(0, u16::from)
    }

    /// The node above.
    pub(crate) fn parent(&self) -> Option<Node<'t>> {
        self.parents.last().copied()
    }

    /// The node `levels` above the parent.
    pub(crate) fn ancestor(&self, levels: usize) -> Option<Node<'t>> {
        let at = self.parents.len().checked_sub(levels + 1)?;
        self.parents.get(at).copied()
    }
}

/// Visits every node of a tree in the order of the text; its root may lie at a depth of another
/// tree.
pub(crate) fn walk(tree: &Tree, mut depth: u32, visitor: &mut impl Visitor) {
    let mut cursor = tree.walk();
    let mut parents: Vec<Node<'_>> = Vec::new();
    loop {
        let node = cursor.node();
        let descend = visitor.enter(&NodeContext {
            node,
            depth,
            cursor: &cursor,
            parents: &parents,
        });
        if descend && cursor.goto_first_child() {
            parents.push(node);
            depth += 1;
            continue;
        }
        visitor.leave(depth);
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            parents.pop();
            depth -= 1;
            visitor.leave(depth);
        }
    }
}

/// The arguments of a call, in order; none where the node has no list of them.
pub(crate) fn arguments(call: Node<'_>) -> Option<Vec<Node<'_>>> {
    let list = call.child_by_field_name("arguments")?;
    let mut cursor = list.walk();
    let mut given: Vec<Node<'_>> = list.named_children(&mut cursor).collect();
    given.retain(|one| !one.kind().ends_with("comment"));
    Some(given)
}

/// Returns how many arguments a call has, -1 where it has no list of them.
pub(crate) fn argument_count(call: Node<'_>) -> i32 {
    arguments(call).map_or(-1, |all| i32::try_from(all.len()).unwrap_or(-1))
}

/// The first line of a node, counted from 1.
pub(crate) fn first_line(node: Node<'_>) -> u32 {
    line(node.start_position().row)
}

/// The last line of a node. A node that ends with its newline does not reach
/// into the next line.
pub(crate) fn last_line(node: Node<'_>) -> u32 {
    let (start, end) = (node.start_position(), node.end_position());
    if end.column == 0 && end.row > start.row {
        line(end.row - 1)
    } else {
        line(end.row)
    }
}

/// A row of the parser as a line number.
pub(crate) fn line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
}

/// The last named part of a node.
pub(crate) fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    let last = node.named_child_count().checked_sub(1)?;
    node.named_child(u32::try_from(last).ok()?)
}
