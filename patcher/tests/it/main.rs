//! Behaviour of the patcher from outside: replies and diffs of models against
//! whole trees.

#[cfg(test)]
mod edits;
#[cfg(test)]
mod perturbed;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod raw_diffs;
