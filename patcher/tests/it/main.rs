//! Behaviour of the patcher from outside: replies and diffs of models against
//! whole trees.

#[cfg(test)]
mod edits;
#[cfg(test)]
mod properties;
