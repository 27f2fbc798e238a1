//! Relations: the questions that the code database answers.
//!
//! Lookups by name, along calls, along types and by place, all as methods of
//! [`Index`]. They return everything they find in a fixed order; choosing what
//! to show is not done here.

mod calls;
mod definitions;
mod hierarchy;
mod name;
mod nearest;
mod places;
pub(crate) mod resolution;
mod rows;
mod similar;

#[cfg(test)]
pub(crate) mod tests;

pub use definitions::Definitions;
pub(crate) use definitions::nearest_named;
pub use name::QualifiedName;
pub use nearest::{Nearest, Nearness};
pub use similar::Similar;
