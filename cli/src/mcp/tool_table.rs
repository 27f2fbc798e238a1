//! The table of the tools: names, words and arguments, and nothing that acts.

#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    Text,
    Number,
    YesNo,
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) needed: bool,
    pub(super) about: &'static str,
}

pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) fields: &'static [Field],
}

const fn needed(name: &'static str, about: &'static str) -> Field {
    Field {
        name,
        form: Form::Text,
        needed: true,
        about,
    }
}

const fn optional(name: &'static str, form: Form, about: &'static str) -> Field {
    Field {
        name,
        form,
        needed: false,
        about,
    }
}

const FUNCTION: Field = needed(
    "name",
    "The function, plain or qualified: f, A::b, a.b.C.d, C#m",
);
const DEPTH: Field = optional(
    "depth",
    Form::Number,
    "How many calls away to follow, 1 to 5; 1 when left out",
);
const INSIDE: Field = optional(
    "path",
    Form::Text,
    "Only files whose path holds this, such as src/",
);

/// The first field of a query is what stands between its tags elsewhere.
pub(super) const TOOLS: &[Entry] = &[
    Entry {
        name: "context",
        title: "Code for a request or a crash",
        about: "The code that a request in words or a whole crash report (sanitizer, Jazzer, Java stack trace) calls for: \
            functions, callers, types and macros, packed to a budget of tokens. The best first question.",
        fields: &[
            needed(
                "request",
                "The request in plain words, or the crash report as it was printed",
            ),
            optional("budget", Form::Number, "The most tokens of the answer"),
        ],
    },
    Entry {
        name: "crash",
        title: "Read a crash report",
        about: "Reads a crash report out of a log: kind, weakness (CWE), signature, and the stacks with paths of this tree.",
        fields: &[needed("log", "What the crashed program printed")],
    },
    Entry {
        name: "judge",
        title: "Judge a patch",
        about: "Proves or refutes a patch for the crash that this server was started with: builds it in a sandbox, runs the \
            crashing inputs, the tests and mutated inputs, compares the behaviour on harmless inputs, and reviews the diff. \
            Answers with the evidence, check by check. Takes minutes.",
        fields: &[needed(
            "patch",
            "The patch as a unified diff against the unpatched tree",
        )],
    },
    Entry {
        name: "symbol",
        title: "Definitions of a name",
        about: "The definitions of a function, type, macro, field or variable, with their code. Typedef and struct come \
            together; a part of a name finds what holds it.",
        fields: &[needed(
            "name",
            "The name, plain or qualified: f, A::b, ns::A, a.b.C.d, C#m",
        )],
    },
    Entry {
        name: "file",
        title: "A file or some of its lines",
        about: "Lines of a file with their numbers, or the outline of a large file. Paths from another machine are found \
            by their ending.",
        fields: &[
            needed("path", "The path, such as src/a.c"),
            optional(
                "lines",
                Form::Text,
                "Line ranges, such as 10-40 or 10-40, 90-95",
            ),
        ],
    },
    Entry {
        name: "text",
        title: "Literal text",
        about: "Literal text (or a regular expression) in any file, with lines around it and the function that it lies in.",
        fields: &[
            needed("text", "What to find"),
            optional(
                "regex",
                Form::YesNo,
                "Whether the text is a regular expression",
            ),
            INSIDE,
        ],
    },
    Entry {
        name: "search",
        title: "Search by words",
        about: "Definitions that speak of some words, ranked: names, comments and bodies are weighed. For when no name is known.",
        fields: &[needed(
            "words",
            "Words that describe the code, such as: length check of a profile",
        )],
    },
    Entry {
        name: "pattern",
        title: "Structural pattern",
        about: "Code of a certain shape: $X stands for one piece of code, $$$ for any number of them, as in \
            memcpy($DST, $SRC, $LEN) or if ($P == NULL) { $$$ }. A pattern without a hit is relaxed, and the answer says how.",
        fields: &[
            needed(
                "pattern",
                "One whole expression, statement or definition of the tree's language",
            ),
            INSIDE,
        ],
    },
    Entry {
        name: "rule",
        title: "Structural rule",
        about: "Patterns combined by <any>, <all>, <not>, <inside>, <has>, with <kind> and <regex>, as in \
            <pattern>memcpy($$$)</pattern><not><inside><pattern>if ($A < $B) { $$$ }</pattern></inside></not>",
        fields: &[needed("rule", "The tags of the rule"), INSIDE],
    },
    Entry {
        name: "references",
        title: "Uses of a name",
        about: "Every place that uses a name, read, written, called or as a type, by file and function.",
        fields: &[needed("name", "The name")],
    },
    Entry {
        name: "callers",
        title: "Who calls a function",
        about: "The functions that call one, with the lines of the calls; deeper on wish.",
        fields: &[FUNCTION, DEPTH],
    },
    Entry {
        name: "callees",
        title: "What a function calls",
        about: "The functions that one calls; deeper on wish.",
        fields: &[FUNCTION, DEPTH],
    },
    Entry {
        name: "path",
        title: "Chain of calls",
        about: "The shortest chain of calls from one function to another, over files.",
        fields: &[
            needed("from", "The caller at the start"),
            needed("to", "The callee at the end"),
        ],
    },
    Entry {
        name: "implementations",
        title: "Implementations and overrides",
        about: "What implements or extends a type, or overrides a method.",
        fields: &[needed("name", "The type or method")],
    },
    Entry {
        name: "similar",
        title: "Functions alike",
        about: "Functions that look like one or are used like it: where the same bug may be, or where it is done right.",
        fields: &[FUNCTION],
    },
    Entry {
        name: "flow",
        title: "Where a value comes from and goes to",
        about: "The origins and uses of a value, over calls and returns.",
        fields: &[needed(
            "expression",
            "A variable, a field (s->len) or an expression, with an optional function: before it",
        )],
    },
    Entry {
        name: "sql",
        title: "SQL over the code database",
        about: "One read-only SELECT over the views of the code database; at most 100 rows and 2 seconds.",
        fields: &[needed("statement", "The SELECT statement")],
    },
    Entry {
        name: "more",
        title: "The next hits",
        about: "The next hits of an earlier query of this session.",
        fields: &[Field {
            name: "query",
            form: Form::Number,
            needed: true,
            about: "The number of the earlier query, as its answer's first line gives it",
        }],
    },
];
