//! The section of the interfaces for cyber reasoning systems. Meanings and
//! defaults stand in `config/default.toml`.

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use std::time::Duration;

/// The interfaces for cyber reasoning systems.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Crs {
    /// True when they are answered.
    pub enabled: bool,
    /// Folder with a folder for each project that is known here.
    pub projects: Option<String>,
    /// The weakest evidence with which a patch is given out.
    pub least: Least,
    /// Where the competition answers.
    pub competition: Option<String>,
    /// Our key there.
    pub key_id: String,
    /// The token of the key.
    #[schemars(with = "String")]
    pub key_token: SecretString,
    /// Between two looks at what there is to do.
    pub watch: Duration,
    /// Time that a patch waits for others that might make it superfluous.
    pub hold: Duration,
}

/// The evidence that a patch needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Least {
    /// Every rung holds.
    Verified,
    /// No rung refutes it.
    Plausible,
    /// There was no PoV to try it on.
    Unverified,
}

impl Least {
    /// Returns the doubt that the evidence leaves, as the choice among patches counts it.
    pub fn doubt(self) -> u32 {
        self as u32
    }
}
