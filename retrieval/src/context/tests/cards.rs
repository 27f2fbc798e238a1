//! Tests of cards: what they say, what they are made of, and what they bring.

use super::tree_of;
use crate::context::Form;
use crate::context::form::{fitting, size_of};
use crate::{Card, Context, Engine, Request};
use std::collections::BTreeSet;

const C: &str = "\
/*
 * Reads one row of the image.
 */
static int
read_row(struct png *p,
         int n)
{
    return n;
}

/* -------- */
#define CLAMP(x, y) \\
    ((x) < (y) ? (x) : (y))

// The limits of it.
static const int limits[] = {
    1, 2, 3
};

typedef struct {
    int a;
} pair_t;

/** @brief One image in memory. */
struct image {
    int width, height;
    char *rows;
    unsigned long stride;
    unsigned long depth;
    unsigned long kind;
    unsigned long flags;
    unsigned long first;
    unsigned long last;
    unsigned long left;
    unsigned long right;
    unsigned long above;
    unsigned long below;
    unsigned long used;
    int owned;
};
";
const JAVA: &str = "\
package a;

public class Reader extends Base implements Closeable {
    private int size;

    /**
     * Reads what comes next.
     * @return the next
     */
    @Override
    public int next(String name, int count) throws Broken {
        return size;
    }
}
";
const PYTHON: &str = "\
class Reader(Base):
    def next(self, name,
             count=(1, 2)):
        \"\"\"Reads what comes next.

        Slowly.
        \"\"\"
        return 1
";

fn languages() -> (tempfile::TempDir, Engine) {
    tree_of(&[("a.c", C), ("Reader.java", JAVA), ("reader.py", PYTHON)])
}

fn card_of(engine: &Engine, name: &str, path: &str, form: (Form, usize)) -> Option<Card> {
    let named = engine.named(name).unwrap();
    let symbol = named.iter().find(|symbol| symbol.path.as_str() == path);
    fitting(engine, symbol?, &BTreeSet::from(["depth"]), form).unwrap()
}

#[test]
fn a_compact_card_says_how_it_is_declared_and_what_it_is_for() {
    let (_folder, engine) = languages();
    for (name, path, expected) in [
        (
            "read_row",
            "a.c",
            "static int read_row(struct png *p, int n)\n  doc: Reads one row of the image.\n",
        ),
        ("CLAMP", "a.c", "#define CLAMP(x, y)\n"),
        (
            "limits",
            "a.c",
            "static const int limits[] =\n  doc: The limits of it.\n",
        ),
        (
            "image",
            "a.c",
            "struct image\n  doc: One image in memory.\n",
        ),
        ("pair_t", "a.c", "typedef struct {...} pair_t\n"),
        (
            "next",
            "Reader.java",
            "public int next(String name, int count) throws Broken\n  doc: Reads what comes next.\n",
        ),
        (
            "next",
            "reader.py",
            "def next(self, name, count=(1, 2)):\n  doc: Reads what comes next.\n",
        ),
    ] {
        let card = card_of(&engine, name, path, (Form::Compact, 1_000)).unwrap();
        assert_eq!((card.form, card.text.as_str()), (Form::Compact, expected));
        assert!(size_of(&card) <= 50, "{card:?}");
    }
}

#[test]
fn a_standard_card_adds_what_it_lies_in_and_its_members_as_far_as_they_fit() {
    let (_folder, engine) = languages();
    let standard = |name, path| card_of(&engine, name, path, (Form::Standard, 1_000)).unwrap();
    let method = standard("next", "Reader.java");
    assert!(
        method
            .text
            .ends_with("  in: public class Reader extends Base implements Closeable\n"),
        "{method:?}"
    );
    let image = standard("image", "a.c");
    assert_eq!(image.form, Form::Standard);
    // What the code names is said first.
    assert!(
        image.text.starts_with(
            "struct image\n  doc: One image in memory.\n  unsigned long depth\n  int width, height\n"
        ) && image.text.ends_with(" more\n"),
        "{image:?}"
    );
    assert!(size_of(&image) <= 130, "{image:?}");
    // What has neither scope nor members has no form between.
    assert_eq!(standard("read_row", "a.c").form, Form::Compact);
}

#[test]
fn the_fullest_form_is_taken_that_there_is_room_for() {
    let (_folder, engine) = languages();
    let form = |name: &str, path, room| {
        card_of(&engine, name, path, (Form::Full, room)).map(|card| card.form)
    };
    let card = |name, form| card_of(&engine, name, "Reader.java", (form, 1_000)).unwrap();
    let (full, compact) = (card("next", Form::Full), card("next", Form::Compact));
    assert!(full.text.contains("        return size;\n"), "{full:?}");
    let standard = size_of(&card("next", Form::Standard));
    assert_eq!(
        form("next", "Reader.java", size_of(&full)),
        Some(Form::Full)
    );
    let less = form("next", "Reader.java", standard.min(size_of(&full) - 1));
    assert!(less < Some(Form::Full), "{less:?}");
    assert_eq!(
        form("next", "Reader.java", size_of(&compact)),
        Some(Form::Compact)
    );
    assert_eq!(form("next", "Reader.java", size_of(&compact) - 1), None);
    // Code of more than a few lines is no card.
    assert_eq!(form("image", "a.c", 1_000), Some(Form::Standard));
}

fn context(engine: &Engine, text: &str, budget: usize) -> Context {
    engine
        .context(&Request {
            text: text.to_owned(),
            budget,
            ..Request::default()
        })
        .unwrap()
}

const DEPENDENCIES: [(&str, &str); 5] = [
    (
        "src/rows.c",
        "int parse_table_rows(int n)\n{\n    return split_cells(n) + near(n);\n}\n\n\
         int near(int n)\n{\n    return far_from_near(n);\n}\n",
    ),
    (
        "src/cells.c",
        "/* Splits what lies between. */\nint split_cells(int n)\n{\n    int kept = n;\n    return trim_blank(kept);\n}\n",
    ),
    (
        "src/blank.c",
        "int trim_blank(int n)\n{\n    return third(n);\n}\nint far_from_near(int n)\n{\n    return n;\n}\n",
    ),
    ("src/third.c", "int third(int n)\n{\n    return n;\n}\n"),
    (
        "tests/test_rows.c",
        "int check_rows(void)\n{\n    return parse_table_rows(1);\n}\n",
    ),
];

#[test]
fn users_come_as_the_intent_wants_them() {
    let (_folder, engine) = tree_of(&[
        DEPENDENCIES[0],
        DEPENDENCIES[4],
        (
            "src/page.c",
            "int show_page(void)\n{\n    return parse_table_rows(2);\n}\n",
        ),
    ]);
    let users = |text: &str| {
        let context = context(&engine, text, 0);
        let is_user = |name: &str| {
            let mut shown = context.snippets.iter().flat_map(|one| &one.symbols);
            shown.any(|symbol| symbol == name)
        };
        (is_user("show_page"), is_user("check_rows"))
    };
    for (text, expected) in [
        ("where is `parse_table_rows` defined?", (false, false)),
        ("who calls parse_table_rows?", (true, true)),
        ("implement cells in parse_table_rows", (false, false)),
        ("fix the bug in parse_table_rows", (false, false)),
        ("rename parse_table_rows", (true, true)),
        ("write tests for parse_table_rows", (false, true)),
    ] {
        assert_eq!(users(text), expected, "{text}");
    }
}

#[test]
fn what_the_value_of_a_macro_names_has_a_card_too() {
    let (_folder, engine) = tree_of(&[
        (
            "src/name.c",
            "#include \"limits.h\"\nint copy_name(char *name, int n)\n{\n    char text[MOST_TEXT];\n    return n < MOST_TEXT;\n}\n",
        ),
        (
            "src/limits.h",
            "#define MOST_NAME 64\n#define MOST_TEXT (MOST_NAME * 2 + 6)\n",
        ),
    ]);
    let context = context(&engine, "fix the bug in copy_name", 0);
    let names: Vec<&str> = context
        .definitions
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["MOST_TEXT", "MOST_NAME"]);
}
