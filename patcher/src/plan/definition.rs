//! Whole functions that a reply gives back: each replaces the definition of its
//! name, when there is one.

use super::draft::draft;
use super::find::Found;
use super::wish::{Reading, Wish};
use super::{Plan, refuse};
use crate::functions::{Function, functions, pasted};
use crate::guard::Denied;
use crate::locate::Match;
use crate::pristine::Pristine;
use crate::script::is_elision;
use crate::{Edit, PlacementKind, Refusal, Rule};
use patchwright_source::{Language, TreePath};

/// Files beyond this many are not looked through for a function.
const MOST_FILES: usize = 20_000;

/// Larger files are not looked through, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Files that hold the name beyond this many are not parsed.
const MOST_PARSED: usize = 64;

impl Plan<'_> {
    /// Places a whole function.
    pub(super) fn define(&mut self, number: usize, edit: &Edit) -> Result<(), Refusal> {
        let Edit::Definition {
            file,
            language,
            text,
        } = edit
        else {
            return Ok(());
        };
        let fail = |denied: Denied| refuse(number, file, denied);
        let functions = pasted(*language, text);
        let [function] = functions.as_slice() else {
            let reason =
                "the text is no function by itself; send <edit> with the lines that change";
            return Err(fail((Rule::Incomplete, reason.to_owned())));
        };
        if text.lines().any(is_elision) {
            let reason = "the function leaves lines out; send it in whole, or <edit> with the \
                          lines that change";
            return Err(fail((Rule::Incomplete, reason.to_owned())));
        }
        let path = if file.is_empty() {
            self.file_that_defines(*language, function).map_err(fail)?
        } else {
            self.paths.existing(file, true).map_err(fail)?
        };
        let plan = self.file(&path).map_err(fail)?;
        let pristine = &plan.pristine;
        let old = the_definition(pristine, *language, function).map_err(fail)?;
        let new = text.get(function.bytes.clone()).unwrap_or_default();
        let indent = text
            .get(..function.bytes.start)
            .and_then(|before| before.rsplit('\n').next())
            .unwrap_or_default();
        let new = format!("{indent}{new}");
        let (wish, found) = replacement(number, path.as_str(), pristine, &old, &new);
        let draft = draft(pristine, &wish, &found)?;
        self.note(&path, draft);
        Ok(())
    }

    /// The only file of a language that defines a function.
    fn file_that_defines(
        &self,
        language: Language,
        function: &Function,
    ) -> Result<TreePath, Denied> {
        let last = function.name.rsplit("::").next().unwrap_or(&function.name);
        let tree = self.paths.tree;
        let files = tree.files();
        let holding = files.iter().take(MOST_FILES).filter_map(|path| {
            let own = Language::of_path(path)?;
            let text = tree
                .read_up_to(path, LARGEST)
                .ok()
                .filter(|_| own == language)?;
            let holds = text
                .bytes()
                .windows(last.len())
                .any(|part| part == last.as_bytes());
            holds.then(|| (path.clone(), text))
        });
        let defining: Vec<TreePath> = holding
            .take(MOST_PARSED)
            .filter(|(_, text)| {
                let all = functions(language, text.bytes());
                all.iter().any(|other| other.name == function.name)
            })
            .map(|(path, _)| path)
            .collect();
        match defining.as_slice() {
            [path] => Ok(path.clone()),
            [] => Err((
                Rule::NotFound,
                format!("no file defines {}(); name its file", function.name),
            )),
            several => {
                let names: Vec<&str> = several.iter().map(TreePath::as_str).collect();
                let reason = format!(
                    "{}() is defined in {}; name the file that is meant",
                    function.name,
                    names.join(" and ")
                );
                Err((Rule::Ambiguous, reason))
            }
        }
    }
}

/// The definition in a file that a function replaces: the only one of its name,
/// or of its name and its parameters.
fn the_definition(
    file: &Pristine,
    language: Language,
    function: &Function,
) -> Result<Function, Denied> {
    let language = file.language.unwrap_or(language);
    let mut named = functions(language, file.text.bytes());
    named.retain(|other| other.name == function.name);
    if named.len() > 1 {
        let same: Vec<&Function> = named
            .iter()
            .filter(|other| other.parameters == function.parameters)
            .collect();
        if let [one] = same.as_slice() {
            return Ok((*one).clone());
        }
        let lines: Vec<String> = named
            .iter()
            .map(|other| (other.lines.start + 1).to_string())
            .collect();
        let reason = format!(
            "{}() is defined at lines {}; send <edit> with the lines that change",
            function.name,
            lines.join(", ")
        );
        return Err((Rule::Ambiguous, reason));
    }
    let found = named.pop().ok_or_else(|| {
        let reason = format!("{} defines no {}()", file.path, function.name);
        (Rule::NotFound, reason)
    })?;
    let alone = |at: usize, offset: usize, after: bool| {
        let line = file.line(at);
        let start = file.text.line_start(at + 1).unwrap_or_default();
        let (before, behind) = line.split_at_checked(offset.saturating_sub(start))?;
        let rest = if after { behind } else { before };
        rest.trim().is_empty().then_some(())
    };
    let first = alone(found.lines.start, found.bytes.start, false);
    let last = alone(found.lines.end - 1, found.bytes.end, true);
    if first.is_none() || last.is_none() {
        let reason = format!(
            "{}() shares its lines with other code; send <edit> with the lines that change",
            found.name
        );
        return Err((Rule::NotFound, reason));
    }
    Ok(found)
}

/// The replacement of a function as an edit whose place is known.
fn replacement<'a>(
    number: usize,
    path: &'a str,
    file: &Pristine,
    old: &Function,
    new: &str,
) -> (Wish<'a>, Found) {
    let lines: Vec<String> = old
        .lines
        .clone()
        .map(|at| file.line(at).into_owned())
        .collect();
    let new: Vec<String> = new.lines().map(str::to_owned).collect();
    let place = Match {
        range: old.lines.clone(),
        kind: PlacementKind::Moved,
        pairs: Some(old.lines.clone().map(Some).collect()),
        fixed: Vec::new(),
    };
    let found = Found {
        place,
        new: new.clone(),
        reading: Reading::plain(lines.clone()),
    };
    (Wish::between(number, path, lines, new), found)
}
