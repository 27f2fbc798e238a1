//! Style sheet, script and icon of the page.

/// The style sheet.
pub const STYLE: &str = include_str!("assets/style.css");
/// The script: lazy parts, live updates, keys, trying out the HTTP interface.
pub const SCRIPT: &str = include_str!("assets/script.js");
pub const ICON: &str = include_str!("assets/icon.svg");
