//! Expressions that are accepted, and those that are refused with their reasons.

use super::Expression;
use proptest::prelude::*;

#[test]
fn what_only_reads_is_read() {
    for text in [
        "n",
        "p->n",
        "s.a[i + 1].b",
        "*p",
        "&a[3]",
        "**argv",
        "a == b && c != 'x'",
        "(a - b) * 4",
        "(int)x",
        "(unsigned char)p[0]",
        "(struct item *)p",
        "((struct item *)p)->next",
        "(size_t)(end - begin)",
        "sizeof(x)",
        "sizeof(struct item)",
        "sizeof *p",
        "-1",
        "!p",
        "~0x1fUL",
        "1.5e3",
        "A::b",
        "::g",
        "geo::Box::count",
        "this->w",
        "this.size - 1",
        "a ? b : c",
        "x >> 3 & 0xff",
        "p[0]@8",
        "(a)",
        "a * (b)",
        "s->sel >= 18002",
        "'\\n' == c",
        "'\\'' == c",
        "(byte)b[0]",
        "(int[])o",
        "a<b",
        "list.elementData[0]",
    ] {
        assert!(
            Expression::read(text).is_ok(),
            "{text}: {:?}",
            Expression::read(text)
        );
    }
    assert_eq!(
        Expression::read("  a +\n b; ").unwrap().to_string(),
        "a + b"
    );
}

#[test]
fn what_could_do_something_is_refused_with_the_reason() {
    for (text, reason) in [
        ("f()", "calls are not made"),
        ("a.f(1)", "calls are not made"),
        ("strlen(s)", "calls are not made"),
        ("(*f)(x)", "calls are not made"),
        ("p->f(x) + 1", "calls are not made"),
        ("sizeof(f(x))", "calls are not made"),
        ("a[f()]", "calls are not made"),
        ("a = 1", "changes the program"),
        ("a[i] += 2", "changes the program"),
        ("i++", "changes the program"),
        ("--i", "changes the program"),
        ("(a = 1)", "changes the program"),
        ("$_shell(\"id\")", "names with $"),
        ("$rip", "names with $"),
        ("\"x\"", "text constants"),
        ("a, b", "one expression at a time"),
        ("a; shell id", "one expression at a time"),
        ("shell id", "\"id\" is not expected"),
        ("python print(1)", "\"print\" is not expected"),
        ("new int", "\"new\" is not read"),
        ("a b", "\"b\" is not expected"),
        ("#include", "'#' has no place"),
        ("a\\n", "'\\\\' has no place"),
        ("`id`", "'`' has no place"),
        ("", "there is no expression"),
        ("a +", "missing at the end"),
        ("(a", "missing at the end"),
        ("12abc", "is no number"),
        ("'ab", "character constant"),
        ("x -- y", "changes the program"),
    ] {
        let refused = Expression::read(text).expect_err(text);
        assert!(refused.contains(reason), "{text}: {refused}");
    }
    assert!(Expression::read(&"(".repeat(100)).is_err());
    assert!(Expression::read(&"a+".repeat(150)).is_err());
}

proptest! {
    #[test]
    fn nothing_makes_it_panic_and_nothing_read_can_act(text in "[a-c0-9 ()\\[\\]+*=.,;$\"'\\\\<>!&|:?@-]{0,40}|\\PC{0,30}") {
        if let Some(text) = Expression::read(&text).ok().map(|read| read.to_string()).filter(|text| !text.contains('\'')) {
            let strange = text.contains(['$', '"', ';', ',', '\n', '\t', '{', '`', '#']);
            prop_assert!(!strange, "{}", text);
            let without = text.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "");
            prop_assert!(!without.contains('='), "{text}");
        }
    }
}
