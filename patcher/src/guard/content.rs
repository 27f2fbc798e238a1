//! Kind of a file by its content: a harness or a test.

use patchwright_source::{Language, Pattern, without_comments};

/// Definitions of fuzzing entry points: the head and the brace that opens the
/// body. A declaration or a call is none.
static DEFINITION: Pattern = Pattern::new(
    r"(?x)
    (?P<c> \b [\w>*&\]] [\w\s:*&]*? [\s*&]
        (?: LLVMFuzzer (?: TestOneInput | CustomMutator | CustomCrossOver ) | fuzzerTestOneInput )
        \s* \( [^;{}]* \) [\w\s,.:<>]* \{ )
    | (?P<macro> \b (?: DEFINE_ (?: TEXT_ | BINARY_ )? PROTO_FUZZER | FUZZ_TEST(?:_F)? ) \s* \( )
    | (?P<java> @FuzzTest \b )
    | (?P<rust> \b fuzz_target ! \s* [({] )
    | (?P<go> \b func \s+ Fuzz \w* \s* \( \s* \w+ \s+ (?: \*testing\.F | \[\]byte ) )
    ",
);

/// Words of which one stands in every file that [`DEFINITION`] can match.
const MARKS: &str =
    "LLVMFuzzer|fuzzerTestOneInput|PROTO_FUZZER|FUZZ_TEST|FuzzTest|fuzz_target!|func Fuzz";

/// The fuzzing entry point that a file defines, if it defines one.
pub(crate) fn harness_entry(language: Option<Language>, bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    if language == Some(Language::Python) {
        let is_harness = text.contains("atheris.Setup") && text.contains("TestOneInput");
        return is_harness.then(|| "TestOneInput".to_owned());
    }
    if !MARKS.split('|').any(|mark| text.contains(mark)) {
        return None;
    }
    let code = without_strings(&without_comments(language, text.lines()));
    let found = DEFINITION.find(&code)?.as_str();
    let name = MARKS.split('|').find(|mark| found.contains(mark))?;
    Some(match name {
        "LLVMFuzzer" if found.contains("TestOneInput") => "LLVMFuzzerTestOneInput".to_owned(),
        name => name.to_owned(),
    })
}

fn without_strings(lines: &[String]) -> String {
    let mut out = String::new();
    for line in lines {
        for token in crate::tokens::tokens(line) {
            let quoted = token.starts_with('"') && token.len() > 1 && token != "\"C\"";
            out.push_str(if quoted { "\"\"" } else { token });
            out.push(' ');
        }
        out.push('\n');
    }
    out.replace(" ! ", "! ")
        .replace("@ ", "@")
        .replace("* testing . F", "*testing.F")
        .replace("[ ] byte", "[]byte")
}

/// Returns true when a file holds tests of a known framework.
pub(crate) fn is_test(language: Option<Language>, bytes: &[u8]) -> bool {
    let Some(language) = language else {
        return false;
    };
    let text = String::from_utf8_lossy(bytes);
    let has = |word: &str| text.contains(word);
    match language {
        Language::Java => has("@Test") && (has("org.junit") || has("org.testng")),
        Language::Python => {
            (has("unittest.TestCase") || has("(TestCase)")) && has("import unittest")
                || (has("import pytest") && has("def test_"))
        }
        Language::C | Language::Cpp => {
            (has("gtest/gtest.h") || has("gmock/gmock.h"))
                && (has("TEST(") || has("TEST_F(") || has("TEST_P("))
        }
        _ => false,
    }
}
