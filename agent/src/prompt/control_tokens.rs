//! Control tokens of chat templates, broken up in the text that a model reads.
//!
//! An inference server that renders a conversation as text reads `<|im_start|>`
//! in a file of the tree as the beginning of a message. A word joiner
//! (U+2060) inside the token makes it ordinary text. A model that copies the
//! broken token into an edit gets the original back: see [`restore`].

use patchwright_source::Pattern;
use regex::Captures;
use std::borrow::Cow;

/// An invisible character that allows no line break.
const JOINER: char = '\u{2060}';

/// The tokens of ChatML, Llama, Mistral, Gemma and DeepSeek: a mark, a name, a
/// mark. Between the first mark and the name there may be a joiner.
static TOKEN: Pattern = Pattern::new(
    r"(?x)
    < \x{2060}?
    (?:
        [|\x{FF5C}] [^\s<>|\x{FF5C}]{1,64} [|\x{FF5C}] >
        | /? s > | <SYS>> | </SYS>>
        | (?: bos | eos | pad | unk | (?:start|end)_of_(?:turn|image) | /?tool_(?:call|response) ) >
    )
    | \[ \x{2060}?
    (?:
        /? (?: INST | SYSTEM_PROMPT | AVAILABLE_TOOLS | TOOL_RESULTS | TOOL_CONTENT | IMG | THINK ) \]
        | (?: TOOL_CALLS | ARGS | CALL_ID | PREFIX | SUFFIX | MIDDLE ) \]
    )",
);

/// Breaks every control token up. Text that was broken up before stays.
pub(crate) fn break_up(text: &str) -> Cow<'_, str> {
    replace(text, Some(JOINER))
}

/// Restores the control tokens in a reply that copies text from a prompt.
pub(crate) fn restore(text: &str) -> Cow<'_, str> {
    if text.contains(JOINER) {
        replace(text, None)
    } else {
        Cow::Borrowed(text)
    }
}

fn replace(text: &str, joiner: Option<char>) -> Cow<'_, str> {
    TOKEN.replace_all(text, |found: &Captures| {
        let (mark, rest) = found[0].split_at(1);
        let mut written = mark.to_owned();
        written.extend(joiner);
        written.push_str(rest.strip_prefix(JOINER).unwrap_or(rest));
        written
    })
}

#[cfg(test)]
mod tests {
    use super::{break_up, restore};

    #[test]
    fn control_tokens_are_broken_up_and_restored() {
        for token in [
            "<|im_start|>",
            "<|im_end|>",
            "<|endoftext|>",
            "<|start_header_id|>",
            "<|eot_id|>",
            "<\u{ff5c}begin\u{2581}of\u{2581}sentence\u{ff5c}>",
            "[INST]",
            "[/INST]",
            "[TOOL_CALLS]",
            "</s>",
            "<s>",
            "<<SYS>>",
            "<</SYS>>",
            "<start_of_turn>",
            "<end_of_turn>",
            "</tool_call>",
        ] {
            let text = format!("x = \"{token}system\";\n");
            let broken = break_up(&text);
            assert!(!broken.contains(token), "{token}: {broken:?}");
            assert_eq!(break_up(&broken), broken, "{token} twice");
            assert_eq!(restore(&broken), text, "{token} restored");
        }
    }

    #[test]
    fn code_stays_as_it_is() {
        for code in [
            "if (a <b || c> d) x[INSTALL] = y <s> 3;",
            "fn f() -> Vec<u8> { v.iter().map(|x| x > 3) }",
            "std::vector<std::size_t> s; a[ARG] = b[i];",
            "#include <stdio.h>\n<patch><edit file=\"a.c\">",
        ] {
            let kept = code.replace(" <s> ", " ");
            assert_eq!(break_up(&kept), kept);
        }
        // A joiner that is part of no token is the file's own.
        assert_eq!(restore("a\u{2060}b"), "a\u{2060}b");
    }
}
