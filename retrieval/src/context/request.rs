//! What a request in words calls for.

use super::Plan;
use super::crash::describe;
use crate::engine::Engine;
use crate::engine::frames::Located;

pub(super) fn plan(_engine: &Engine, _text: &str, located: &[Located]) -> Plan {
    Plan {
        intent: "BUG_FIX".to_owned(),
        confidence: 0.5,
        stack: located.iter().map(describe).collect(),
        ..Plan::default()
    }
}
