//! Reports in words: what a person says of a crash, with a log beside it or without.
//!
//! Nothing is invented. A name counts where it is written as code is written, and each one
//! stands in the text as it is given.

use super::around::{Around, is_told};
use super::commands_in_text::{is_preparing, read_block, read_line};
use super::failure_words::{kind, vagueness};
use super::{CommandLine, group_of, other_files, pasted, phrases};
use patchwright_source::{Pattern, built_in_regex, regex};
use regex::Regex;
use serde::{Serialize, Serializer};
use std::sync::LazyLock;

/// A report in a person's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReportInWords {
    /// The kind of failure that the words name.
    pub kind: Option<String>,
    pub functions: Vec<String>,
    pub classes: Vec<String>,
    /// Variables, constants and what else is written as code.
    pub names: Vec<String>,
    /// Source files, with the line where one is named.
    pub files: Vec<Place>,
    pub options: Vec<String>,
    pub versions: Vec<String>,
    /// Files that were attached or given to the program.
    pub inputs: Vec<String>,
    /// Code and inputs that the text holds themselves.
    pub quoted: Vec<String>,
    pub commands: Vec<CommandLine>,
    /// Facts that a repair needs and the text does not give.
    pub missing: Vec<&'static str>,
    /// The words themselves, without logs.
    #[serde(skip)]
    pub text: String,
}

/// A source file, and a line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: Option<u32>,
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A line behind the last one of a text, which ends what is open.
const END: &str = ".";
/// The longest piece of quoted text, and the most pieces and names of a kind that are kept.
const MAX_QUOTED: usize = 4_000;
const MAX_NAMES: usize = 40;

/// Extensions of source files, and of files that programs read.
const SOURCE: &str = "c|h|cc|cpp|cxx|hpp|hh|hxx|inc|inl|ipp|tcc|java|kt|scala|py|js|ts|go|rs|cs|php|rb|pl|y|l|mm|asm";
const DATA: &str = "bin|dat|raw|poc|crash|pdf|png|jpe?g|gif|bmp|tiff?|webp|svg|mp[34]|m4[av]|dsk|avi|mkv|mov|wav|flac|ogg|flv|swf|zip|gz|bz2|xz|tar|7z|rar|jar|apk|dex|elf|txt|xml|html?|json|ya?ml|toml|csv|ini|cfg|conf|tex|eps|ps|ttf|otf|woff2?|pcap|der|pem|crt|p12|wasm|sql|db|j2k|jp2|jpc|pnm|ppm|pgm|xlsx?|docx?|rtf|eml|ico|psd|dxf|stl|obj|mid|iso|img|awk|lua|input|repro";
/// Pieces of a sentence that are written as code, and those that must not be taken for it.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let folders = r"(?:[A-Za-z]:\\)?(?:[A-Za-z0-9_.@+~-]*[/\\])*";
    built_in_regex(&format!(
        r#"(?x)
          \]\((?P<spaced>https?://[^\s)]*(?:\ [^\s)]+)+)\)
        | (?i:lines?|zeile|ligne)\s(?:is\s)?(?P<first>\d+)\s(?i:of|in)\s(?i:the\s)?(?i:file\s)?`?(?P<of>{folders}[A-Za-z0-9_][A-Za-z0-9_.@+-]*\.(?:{SOURCE})(?-u:\b))
        | https?://[^\s)>\]"'`]*?/blob/[^/\s]+/(?P<linked>[^\s)>\]"'`\#]+)\#L(?P<linked_line>\d+)
        | (?P<skipped>https?://[^\s)>\]"'`]+|[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+|\b0x[0-9a-fA-F]+)
        | (?P<file>{folders}[A-Za-z0-9_][A-Za-z0-9_.@+-]*\.(?:{SOURCE})(?-u:\b))
          (?:`?(?::|,?\s(?:at\s|on\s|in\s)?line:?\s|\(|,?\s?[\[(]line\s)`?(?P<line>\d+))?
        | (?P<input>{folders}[A-Za-z0-9_][A-Za-z0-9_.@+:,-]*\.(?:{DATA})(?-u:\b)(?:-[A-Za-z0-9_-]*[0-9])?
          |{folders}(?:poc|crash-|id:)[A-Za-z0-9_:,+-]*[0-9][A-Za-z0-9_:,+-]*
          |{folders}(?:leak|oom|timeout)-[0-9a-f]{{8,}})
        | (?P<path>(?:[A-Za-z]:\\)?(?:[A-Za-z0-9_.@+~-]+[/\\])+[A-Za-z0-9_.@+-]*\.[0-9]?[A-Za-z][A-Za-z0-9]{{0,4}}(?-u:\b))
        | (?P<option>--?[A-Za-z][A-Za-z0-9_-]*)
        | (?P<name>(?:[A-Za-z_~$][A-Za-z0-9_$]*(?:::|->|\.|\#))*~?[A-Za-z_$][A-Za-z0-9_$]*)(?P<call>\(\s*\)|\()?
        "#
    ))
});
static VERSION: Pattern = Pattern::new(
    r#"(?x)
          (?i:\b(?:version|release|ver\.?|tag)s?)(?:=|[\s:`*_"(]+)(?P<named>v?\d+\.\d[\w.+~-]*)
        | (?i:\bthe\s)(?P<built>\d+\.\d+)\s(?:build|release|version)\b
        | \b(?P<short>[vV]?\d+\.\d+\.\d+[\w.+-]*|v\d+\.\d+[\w-]*)
        | (?i:\b(?:as\sof|commit|sha|git|version|revision|rev|changeset|master|head|trunk|latest|currently)\b)\W{1,4}
          (?:(?i:id|hash|sha|is|at|branch)\W{1,4})*(?P<hash>[0-9a-f]{7,40})\b
        | \b(?P<whole>[0-9a-f]{40})(?:$|[^\w.]|\.(?:\W|$))"#,
);
/// Names of systems and tools in front of their own versions.
static OF_SYSTEM: Pattern = Pattern::new(
    r"(?i)\b(?:mac ?os(?: ?x)?|os ?x|ubuntu|debian|fedora|centos|alpine|freebsd|windows|linux|kernel|android|ios|clang|gcc|g\+\+|llvm|jdk|openjdk|java|cmake|glibc|valgrind|afl(?:\+\+)?|gdb|python|bazel|gradle|maven|node(?:\.?js)?|npm|rustc?|docker|meson|xcode|msvc|mingw|qt|boost|electron|chrom(?:e|ium)|firefox|safari|compiler\W+\w+|(?:standard|run-?time|system|c)\ library)[\s:=(),*`-]{0,3}(?:\d+\s?\()?(?:\([^()]*\)\s)?(?:version[\s:=]+)?v?$|\.so\.$",
);
/// Words in front of a commit that brought a fault or took it away.
static OF_CHANGE: Pattern = Pattern::new(
    r"(?i)\b(?:introduced|caused|fixed|reverted|regressed|came in|bisected)\s(?:by|in|with|to|from)\W{1,3}(?:the\s)?(?:commit\W{1,3})?$",
);
/// A word that Markdown shows in italics.
static EMPHASIS: Pattern =
    Pattern::new(r"(?m)(^|[\s(])_([A-Za-z/.][^\s_](?:\S*[^\s_])?)_([\s).,:;]|$)");
/// Beginnings of lines in which a JVM or a kernel (`uname -a`) tells of itself.
static OF_HOST: Pattern = Pattern::new(
    r"JRE version|Java VM:|Runtime Environment|Server VM|^(?:Linux|Darwin|FreeBSD) \S+ (?:$|\d+\.\d+\.\d)|^\s*OS[- ]Version:",
);
/// Addresses of machines of a network inside, days, and versions of the kernels of distributions.
static OTHER: Pattern = Pattern::new(
    r"^(?:10|127|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){2,3}$|^\d\d\.\d\d\.\d\d(?:\d\d)?$|^20\d{6}$|-generic$|-amd64$|\.(?:el|fc)\d+(?:[._]\w+)*$",
);
/// Places of files outside the text, and files that it says are attached.
static HOSTED: Pattern = Pattern::new(
    r"/files/|attachment|pastebin|gist\.|dropbox|drive\.google|(?i:poc|crash|repro)[\w.-]*$",
);
/// Files that are logs, documents or fixes, and not what crashed the program.
static NO_INPUT: Pattern = Pattern::new(
    r"(?i)\.(?:patch|diff|md|rst|lock|cmake|dmp|ips)(?:#.*)?$|hs_err|replay_pid|bugreport\.(?:java|sun)\.com|(?:log|gdb)(?:\.txt|\.gz)?$|back_?trace|stack_?trace|out(?:put)?\.txt$|dmesg|windbg|screen-?shot|user-attachments/assets/|oss-fuzz\.com/(?:revisions|testcase)\b",
);
/// Words of a path of which it is clear that a program reads it.
static SAMPLE: Pattern = Pattern::new(r"(?i)sample|poc|crash|corpus|seed|repro|broken|input");
static ATTACHED: Pattern = Pattern::new(
    r#"(?i:attach)\w*\b[^.\n]{0,40}?["'`]([\w,:+-][\w.,:+-]*\.\w{1,5})["'`]|["'`]([\w,:+-][\w.,:+-]*\.\w{1,5})["'`],?\s(?:is\s)?attached"#,
);

/// A change from small to capital letters, or some of each.
static CAMEL: Pattern = Pattern::new(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}");

/// Reads what a person says in a text, if that names anything of a program, or at least a kind
/// of failure that no log shows.
pub fn read_words(whole: &str) -> Option<ReportInWords> {
    let mut words = ReportInWords::default();
    let (text, has_log) = pasted::words_of(whole);
    let prose = words.read_blocks(&text);
    let title = prose.lines().find(|line| !line.trim().is_empty());
    let (told, said) = (title.and_then(kind), kind(&prose));
    // What crashes does not hang, whatever form it is filed in.
    let dies = told.is_some_and(|kind| ["SEGV", "crash"].contains(&kind));
    let said = said.filter(|kind| !(dies && *kind == "timeout"));
    let kinds = told.into_iter().chain(said);
    words.kind = kinds.min_by_key(|kind| vagueness(kind)).map(str::to_owned);
    words.read_names(&EMPHASIS.replace_all(&prose, "$1$2$3"), whole);
    other_files::drop_others(&mut words.inputs, &prose);
    words.read_versions(&text);
    words.say_missing(has_log);
    words.text = text;
    let code = !(words.functions.is_empty() && words.classes.is_empty() && words.files.is_empty());
    let beside = !(words.names.is_empty() && words.inputs.is_empty());
    let lists = [
        &words.quoted,
        &words.versions,
        &words.options,
        &words.inputs,
    ];
    let ran = !words.commands.is_empty() || has_log && lists.iter().any(|list| !list.is_empty());
    let named = beside || !words.options.is_empty() || !has_log;
    (code || ran || words.kind.is_some() && named).then_some(words)
}

fn add(list: &mut Vec<String>, name: &str) {
    if list.len() < MAX_NAMES && !name.is_empty() && !list.iter().any(|known| known == name) {
        list.push(name.to_owned());
    }
}

/// Tells whether an address is that of an input: by its own words, those beside it, or those of the line above
/// that ends with a colon.
fn is_input(url: &str, around: &Around<'_>, before: Option<&str>) -> bool {
    let before = before.map(|before| before.trim_end_matches(['-', '*', ' ']));
    let above = before.and_then(|before| before.strip_suffix('\n'));
    // Above it in a list stand others.
    let lines = above.unwrap_or_default().trim_end().lines().rev();
    let mut lines = lines.take(MAX_NAMES);
    let line = lines.find(|line| !regex!(r"^\W*https?://\S+\s*$").is_match(line));
    let line = line.and_then(|line| line.strip_suffix(':'));
    let mut words = line.unwrap_or_default().split_whitespace();
    let mut announced = || words.any(|word| phrases::has("words of inputs", &word.to_lowercase()));
    // What a forge shows is code or talk, but for a file that is no source.
    let shown = regex!(r"/(?:tree|pull|commit|issues|compare)/|/blob/.*(?:\.(?:c|cc|cpp|h|hpp|java|md|txt|py|sh)|/[^.]*)(?:#.*)?$").is_match(url);
    url.starts_with("http")
        && !NO_INPUT.is_match(url)
        && (HOSTED.is_match(url) || around.is_among("words of inputs") || !shown && announced())
}

impl ReportInWords {
    /// Reads commands and quoted blocks; returns the rest, which is prose.
    fn read_blocks(&mut self, text: &str) -> String {
        let mut prose = String::new();
        let mut code: Vec<&str> = Vec::new();
        let mut fenced = false;
        for line in text.lines().chain(["", END]) {
            let fence = pasted::is_fence(line);
            let statement = line.ends_with([';', '{', '}']) && line.contains(['(', '=']);
            let indented = line.starts_with("    ") || line.starts_with('\t') || statement;
            fenced ^= fence;
            if !fence && (fenced || indented || line.is_empty() && !code.is_empty()) {
                code.push(line);
                continue;
            }
            prose.push_str(&self.read_code(&std::mem::take(&mut code)));
            if !fence && !is_preparing(line) {
                self.commands.extend(read_line(line, false));
                prose.push_str(line);
                prose.push('\n');
            }
        }
        // A fence that nothing closes ends with the text.
        code.pop();
        prose.push_str(&self.read_code(&code));
        for command in std::mem::take(&mut self.commands) {
            if !self.commands.contains(&command) && self.commands.len() < MAX_NAMES {
                self.commands.push(command);
            }
        }
        prose
    }

    /// Reads a block of code: commands, or something that is quoted. Returns it where it is
    /// prose.
    fn read_code(&mut self, lines: &[&str]) -> String {
        let text = lines.join("\n");
        let text = text.trim_matches('\n');
        if is_told(text) {
            let lines = text.lines().flat_map(|line| read_line(line, false));
            self.commands.extend(lines);
            return format!("{text}\n");
        }
        let mut commands = read_block(text);
        if commands.is_empty() && !text.contains('\n') {
            commands = read_line(&format!("`{}`", text.trim()), false);
        }
        let quoted = super::scrub::shorten(text, MAX_QUOTED);
        if commands.is_empty() && !text.trim().is_empty() && self.quoted.len() < MAX_NAMES {
            self.quoted.push(quoted);
        }
        self.commands.extend(commands);
        String::new()
    }

    fn read_names(&mut self, prose: &str, whole_text: &str) {
        let commands = self.commands.clone();
        for command in &commands {
            command
                .options()
                .for_each(|name| add(&mut self.options, name));
            // `@@`, `[poc]` and `$POC` stand for some file.
            let stands = |name: &&str| !name.starts_with(['@', '$', '[', '<', '{']);
            let given = command.files().filter(stands);
            given.for_each(|name| add(&mut self.inputs, name));
        }
        for found in ATTACHED.captures_iter(prose) {
            let name = found.get(1).or(found.get(2));
            add(&mut self.inputs, name.map_or("", |name| name.as_str()));
        }
        let of_command = |name: &str| {
            let is_part = |command: &CommandLine| command.arguments.iter().any(|word| word == name);
            commands
                .iter()
                .any(|command| command.name() == name || is_part(command))
        };
        let is_run = |file: &str| commands.iter().any(|command| command.reads_not(file));
        for found in TOKEN.captures_iter(prose) {
            let Some(whole) = found.get(0) else { continue };
            let around = Around::of(prose, &found, whole.start());
            // A person is addressed, or a part of a word.
            let part = around.joined || around.previous == Some('@');
            if part && found.name("spaced").is_none() {
                continue;
            }
            let group = |name: &str| found.name(name).map(|group| group.as_str());
            let line = group("line").or(group("linked_line")).or(group("first"));
            let line = line.and_then(|line| line.parse().ok());
            let hosted = |url: &&str| is_input(url, &around, prose.get(..whole.start()));
            if let Some(file) = group("file").or(group("linked")).or(group("of")) {
                self.add_source(file, line, &around);
            } else if let Some(url) = group("skipped").or(group("spaced")).filter(hosted) {
                add(&mut self.inputs, url);
            } else if let Some(file) = group("input")
                .or_else(|| {
                    group("path")
                        .filter(|path| around.is_among("words of inputs") || SAMPLE.is_match(path))
                })
                .filter(|file| !file.starts_with("README") && !is_run(file))
                .filter(|file| !NO_INPUT.is_match(file))
            {
                add(&mut self.inputs, file);
            } else if let Some(path) = group("path") {
                self.add_program(path);
            } else if let Some(option) = group("option").filter(|option| around.is_option(option)) {
                add(&mut self.options, option);
            } else if let Some(name) =
                group("name").filter(|name| !of_command(name) && self.is_new(name, group("call")))
                && let Some(list) = self.list_of(name, group("call"), &around, whole_text)
            {
                if is_program(name, whole_text) {
                    add(&mut self.names, name);
                } else {
                    add(list, name);
                }
            }
        }
    }

    /// Tells whether a name is worth a look: each look is as long as the text.
    fn is_new(&self, name: &str, call: Option<&str>) -> bool {
        let known = |list: &[String]| list.iter().any(|known| known == name);
        let mut lists = [&self.functions, &self.classes, &self.names].into_iter();
        let seen =
            known(&self.functions) || known(&self.classes) || call.is_none() && known(&self.names);
        !seen && lists.all(|list| list.len() < MAX_NAMES)
    }

    /// Adds a source file: a place, or an input where the word before it says that it was opened.
    fn add_source(&mut self, file: &str, line: Option<u32>, around: &Around<'_>) {
        let [before, _] = around.words;
        if line.is_none() && phrases::has("words before inputs", &before.to_lowercase()) {
            add(&mut self.inputs, file);
        } else {
            self.add_place(file, line);
        }
    }

    /// Adds the program that a path of Windows names; its folders are no names.
    fn add_program(&mut self, path: &str) {
        let program = group_of(regex!(r"(?i)([^/\\]+\.(?:exe|dll))$"), path);
        add(&mut self.names, program.unwrap_or_default());
    }

    /// Adds a place; a file that is named once with a line and once without is one.
    fn add_place(&mut self, file: &str, line: Option<u32>) {
        let known = self.files.iter_mut().find(|known| {
            known.file == file && (known.line == line || known.line.is_none() || line.is_none())
        });
        if let Some(known) = known {
            known.line = known.line.or(line);
        } else if self.files.len() < MAX_NAMES && !file.eq_ignore_ascii_case("node.js") {
            let file = file.to_owned();
            self.files.push(Place { file, line });
        }
    }

    /// Returns the list for a word, if it is written as code is.
    fn list_of(
        &mut self,
        name: &str,
        call: Option<&str>,
        around: &Around<'_>,
        text: &str,
    ) -> Option<&mut Vec<String>> {
        let foreign = ["std::", "java.", "javax."].map(|scope| name.starts_with(scope));
        if foreign.contains(&true) || name.len() < 2 || phrases::has("no names", name) {
            return None;
        }
        let parts = || name.split([':', '.', '#', '-', '>']);
        let last = parts().next_back().unwrap_or(name);
        let is_snake = |part: &str| part.trim_matches('_').contains('_');
        let shaped = name.contains("::")
            || name.contains('#')
            || parts().any(|part| is_snake(part) || CAMEL.is_match(part));
        let called = call.is_some_and(|call| call.ends_with(')') || shaped || name.contains('.'));
        let binary = ["exe", "dll", "so", "dylib"].contains(&last);
        let capitals = !last.contains(|c: char| c.is_ascii_lowercase());
        let is_file = name.contains('.') && last.len() < 3 && call.is_none();
        let small =
            is_snake(last) || last.starts_with(|c: char| c.is_ascii_lowercase() || c == '~');
        if !(shaped || called || around.quoted) {
            None
        } else if called && !binary && !around.is_among("words of objects") {
            Some(&mut self.functions)
        } else if around.literal
            || self.names.iter().any(|known| known == name)
            || around.is_among("words of other names")
            || name.contains("->")
            || around.indexed
            || capitals
            || binary
            || is_file
        {
            Some(&mut self.names)
        } else if around.is_among("words of functions") {
            Some(&mut self.functions)
        } else if around.is_among("words of classes") || last.ends_with("_t") {
            Some(&mut self.classes)
        } else if shaped && small && is_called(name, around, text) {
            Some(&mut self.functions)
        } else if shaped && !small && is_class(name, text) {
            Some(&mut self.classes)
        } else {
            Some(&mut self.names)
        }
    }

    fn read_versions(&mut self, text: &str) {
        for found in VERSION.captures_iter(text) {
            let hash = found
                .name("hash")
                .filter(|hash| hash.as_str().contains(|c: char| c.is_ascii_digit()));
            let version = found.name("named").or(found.name("short")).or(hash);
            let version = version.or(found.name("built"));
            let Some(version) = version.or(found.name("whole")) else {
                continue;
            };
            let before = text.get(..version.start()).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or(before);
            let is_folder = found.name("short").is_some()
                && before.ends_with('/')
                && text
                    .get(version.end()..)
                    .is_some_and(|rest| rest.starts_with('/'));
            let version = version.as_str();
            let of_change =
                found.name("hash").or(found.name("whole")).is_some() && OF_CHANGE.is_match(line);
            let is_other = of_change
                || OF_SYSTEM.is_match(before)
                || OF_HOST.is_match(line)
                || OTHER.is_match(version)
                || is_folder
                // A fuzzer names the files that it finds by their hash.
                || found.name("whole").is_some() && line.ends_with('-');
            if !is_other {
                let version = version.trim_end_matches(['.', '-', '+', '_']);
                add(&mut self.versions, version);
            }
        }
    }

    fn say_missing(&mut self, has_log: bool) {
        let no_input = self.inputs.is_empty() && self.quoted.is_empty();
        let wanted = [
            (!has_log, "the output with error and stack"),
            (no_input, "the input"),
            (self.commands.is_empty(), "the command line"),
            (self.versions.is_empty(), "the version or commit"),
        ];
        let missing = wanted.into_iter().filter(|(is_missing, _)| *is_missing);
        self.missing = missing.map(|(_, what)| what).collect();
    }
}

/// Tells whether a name is used as that of a function is, here or elsewhere in the text.
fn is_called(name: &str, around: &Around<'_>, text: &str) -> bool {
    let stands = |before: &str, behind: &str| text.contains(&format!("{before}{name}{behind}"));
    let [before, _] = around.words;
    name.contains(['#', ':'])
        || phrases::has("words before functions", &before.to_lowercase())
        || around.quoted && !phrases::has("words before values", &before.to_lowercase())
        || ["(", " ()", "函数", "関数"]
            .iter()
            .any(|behind| stands("", behind))
        || name.contains('_') && stands("", " (")
        || stands(" in ", " ")
}

/// Tells whether a name is used as that of a class is.
fn is_class(name: &str, text: &str) -> bool {
    let stands = |before: &str, behind: &str| text.contains(&format!("{before}{name}{behind}"));
    let throwable = name.ends_with("Exception") || name.ends_with("Error");
    let used = stands("new ", "") || stands("", ".java") || stands("", "::") || stands("", "#");
    throwable || used || name.contains(['.', ':'])
}

/// Tells whether a name is only that of a source file: a program or a module, and no function.
fn is_program(name: &str, text: &str) -> bool {
    let places = || text.match_indices(name).map(|(at, _)| text.split_at(at));
    let rests = || places().filter_map(|(_, rest)| rest.strip_prefix(name));
    let goes_on =
        |marks: &[&str]| rests().any(|rest| marks.iter().any(|mark| rest.starts_with(mark)));
    let called = goes_on(&["(", " ("]) || places().any(|(before, _)| before.ends_with("in "));
    goes_on(&[".c", ".h", ".java"]) && !called
}
