//! Challenges: the inputs that a reply writes against a patch, each as text, hex,
//! base64 or a script. What an input holds is not interpreted here.

use super::body::clean;
use super::tag::{Tag, tags};
use serde::{Deserialize, Serialize};

/// The most inputs that are read of one reply.
const MOST: usize = 40;

/// An input as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawChallenge {
    /// The way in which its bytes are written.
    pub form: ChallengeForm,
    /// Description of its content, as written.
    pub why: String,
    /// The text between the tags.
    pub body: String,
}

/// A way to write bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChallengeForm {
    /// As they are.
    Text,
    /// Two digits each; spaces and lines between them mean nothing.
    Hex,
    /// Base64, also over several lines.
    Base64,
    /// A Python program that writes them to its standard output.
    Python,
}

impl ChallengeForm {
    fn of(word: Option<&str>) -> Self {
        match word.map(str::to_ascii_lowercase).as_deref() {
            Some("hex" | "hexadecimal") => Self::Hex,
            Some("base64" | "b64") => Self::Base64,
            Some("python" | "python3" | "script" | "py") => Self::Python,
            _ => Self::Text,
        }
    }
}

/// Reads the inputs of a reply, in order; one that is not closed is left out.
pub fn challenges(text: &str) -> Vec<RawChallenge> {
    let text = text.replace("\r\n", "\n");
    let found = tags(&text, |name| name == "challenge");
    let mut read = Vec::new();
    let mut rest = found.iter();
    while let Some(open) = rest.find(|tag| !tag.closing && !tag.empty) {
        let Some(close) = rest.next().filter(|tag| tag.closing) else {
            continue;
        };
        if read.len() < MOST {
            read.push(challenge(&text, open, close));
        }
    }
    read
}

fn challenge(text: &str, open: &Tag, close: &Tag) -> RawChallenge {
    let body = text.get(open.end..close.start).unwrap_or_default();
    // The line breaks beside the tags belong to them.
    let body = body.strip_prefix('\n').unwrap_or(body);
    let body = body.strip_suffix('\n').unwrap_or(body);
    let form = ChallengeForm::of(open.attribute(&["form", "format", "encoding", "as"]));
    let why = open.attribute(&["why", "reason", "what"]);
    RawChallenge {
        form,
        why: why.unwrap_or_default().to_owned(),
        body: match form {
            ChallengeForm::Python => clean(body, false),
            _ => body.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{ChallengeForm, challenges};
    use proptest::prelude::*;

    #[test]
    fn reads_each_form_and_leaves_out_what_is_torn() {
        let text = "I try these.\n<challenge form=\"text\" why=\"an empty name\">\n = 1\n\n</challenge>\n\
            <challenge form=hex>\n42 5a\n68</challenge><challenge form=\"python\">\n```python\nimport sys\n```\n</challenge>\n\
            <challenge>a < b && c > d</challenge>\n<challenge form=\"base64\">QlpoOQ==";
        let read = challenges(text);
        let shown: Vec<(ChallengeForm, &str)> = read
            .iter()
            .map(|one| (one.form, one.body.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                (ChallengeForm::Text, " = 1\n"),
                (ChallengeForm::Hex, "42 5a\n68"),
                (ChallengeForm::Python, "import sys"),
                (ChallengeForm::Text, "a < b && c > d"),
            ]
        );
        assert_eq!(read[0].why, "an empty name");
    }

    proptest! {
        #[test]
        fn never_panics(text in "(<challenge>|<challenge form=\"hex\">|</challenge>|```|\n|\\PC){0,20}") {
            let _ = challenges(&text);
        }
    }
}
