//! Probe answers: the observations of a debugger in words, short and equal for equal runs.

use super::{Observation, Observations, Probe, ValueSpan};
use patchwright_crash::feedback::LineMap;
use std::fmt::Write;

/// Characters of one value that are shown.
const LONGEST: usize = 600;

/// Describes the observation of one probe. Lines are those of the pristine file, with the
/// patched line beside them where they differ.
pub(crate) fn answer(
    asked: &Probe,
    map: Option<&LineMap>,
    observations: &Observations,
    index: usize,
) -> String {
    if let Some(problem) = &observations.problem {
        return format!("no debugger could answer: {problem}");
    }
    let Some(observation) = observations.probes.get(index) else {
        return "no debugger could answer".to_owned();
    };
    let line = |number: u32| map.map_or_else(|| number.to_string(), |map| map.describe(number));
    if observation.hits == 0 {
        return never(asked, observation, &observations.ended, &line);
    }
    let mut text = String::new();
    if !observation.lines.contains(&asked.line) {
        let (there, here) = (line(asked.line), all(&observation.lines, &line));
        let _ = writeln!(
            text,
            "no code is of line {there} alone; this is line {here}"
        );
    }
    let _ = writeln!(text, "reached {}:", times(observation.hits));
    values(&mut text, observation);
    if observation.lost {
        text.push_str(&instead(observation, &line));
    }
    let end = match observations.ended.as_str() {
        "time" => "The time for probes ran out then; what came later was not seen.".to_owned(),
        "unknown" => "Then the program ended.".to_owned(),
        ended => format!("Then the program ended with {ended}."),
    };
    text + &end
}

/// Describes the nearest value, in place of one that the compiler did not keep.
fn instead(observation: &Observation, line: &dyn Fn(u32) -> String) -> String {
    let Some(near) = observation.near.as_deref() else {
        return "The compiler kept no value of it there, nor at the lines around. Ask for what it is made of, or in a \
            function that it is passed to.\n"
            .to_owned();
    };
    let mut text = format!(
        "The compiler kept no value of it there. At line {} of the same function, reached {}:\n",
        all(&near.lines, line),
        times(near.hits)
    );
    values(&mut text, near);
    text
}

fn all(lines: &[u32], line: &dyn Fn(u32) -> String) -> String {
    let lines = lines.iter().map(|number| line(*number));
    lines.collect::<Vec<_>>().join(", ")
}

fn times(hits: u64) -> String {
    match hits {
        1 => "once".to_owned(),
        hits => format!("{hits} times"),
    }
}

fn values(text: &mut String, observation: &Observation) {
    let mut shown = 0;
    for seen in &observation.first {
        row(text, seen);
        shown = seen.2;
    }
    let rest = observation.last.iter().filter(|seen| seen.1 > shown);
    let rest: Vec<&ValueSpan> = rest.collect();
    if let Some(next) = rest.first()
        && next.1 > shown + 1
    {
        let _ = writeln!(text, "  hits {}-{}: left out", shown + 1, next.1 - 1);
    }
    for seen in rest {
        row(text, seen);
    }
    if let (Some((least, at)), Some((most, then))) = (observation.least, observation.most)
        && least != most
    {
        let _ = writeln!(text, "  least {least} (hit {at}), most {most} (hit {then})");
    }
}

fn row(text: &mut String, ValueSpan(value, from, to): &ValueSpan) {
    let mut value: String = value.chars().filter(|c| !c.is_control()).collect();
    if value.chars().count() > LONGEST {
        value = value.chars().take(LONGEST).collect::<String>() + "...";
    }
    let _ = if from == to {
        writeln!(text, "  hit {from}: {value}")
    } else {
        writeln!(text, "  hits {from}-{to}: {value}")
    };
}

fn never(
    asked: &Probe,
    observation: &Observation,
    ended: &str,
    line: &dyn Fn(u32) -> String,
) -> String {
    let there = line(asked.line);
    if !observation.known {
        return format!(
            "the program that ran has no code of {}: it is not part of it, was never loaded, or was built without debug information",
            asked.path
        );
    }
    if !observation.code.is_empty() && !observation.code.contains(&asked.line) {
        let code = observation.code.iter();
        let before = code.clone().filter(|code| **code < asked.line).max();
        let after = code.filter(|code| **code > asked.line).min();
        let near = [before, after].into_iter().flatten();
        let near: Vec<String> = near.map(|code| line(*code)).collect();
        return format!(
            "line {there} holds no code and was not come to; the nearest lines with code are {}",
            near.join(" and ")
        );
    }
    match ended {
        "time" => format!("line {there} was not reached before the time for probes ran out"),
        "unknown" => format!("line {there} is never reached"),
        ended => format!("line {there} is never reached; the program ended with {ended}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Expression, Observation, Observations, Probe, ValueSpan};
    use super::answer;
    use patchwright_crash::feedback::LineMap;
    use patchwright_source::TreePath;

    fn asked(line: u32) -> Probe {
        Probe {
            path: TreePath::new("a.c").unwrap(),
            line,
            expression: Expression::read("n").unwrap(),
        }
    }

    fn told(observation: Observation, ended: &str) -> String {
        let observations = Observations {
            ended: ended.to_owned(),
            problem: None,
            probes: vec![observation],
        };
        answer(&asked(9), None, &observations, 0)
    }

    fn seen(value: &str, from: u64, to: u64) -> ValueSpan {
        ValueSpan(value.to_owned(), from, to)
    }

    #[test]
    fn values_are_folded_and_the_last_is_shown() {
        let many = Observation {
            hits: 90,
            lines: vec![9],
            first: vec![seen("0", 1, 40), seen("1", 41, 41)],
            last: vec![seen("1", 41, 41), seen("7", 89, 89), seen("8", 90, 90)],
            least: Some((0, 1)),
            most: Some((8, 90)),
            ..Observation::default()
        };
        assert_eq!(
            told(many, "exit status 1"),
            "reached 90 times:\n  hits 1-40: 0\n  hit 41: 1\n  hits 42-88: left out\n  hit 89: 7\n  hit 90: 8\n  least 0 (hit 1), most 8 (hit 90)\nThen the program ended with exit status 1."
        );
        let once = Observation {
            hits: 1,
            lines: vec![11],
            first: vec![seen("null", 1, 1)],
            last: vec![seen("null", 1, 1)],
            ..Observation::default()
        };
        assert_eq!(
            told(once, "time"),
            "no code is of line 9 alone; this is line 11\nreached once:\n  hit 1: null\nThe time for probes ran out then; what came later was not seen."
        );
    }

    #[test]
    fn a_value_that_was_not_kept_is_told_from_nearby() {
        let at = |line: u32, value: &str| Observation {
            hits: 1,
            lines: vec![line],
            first: vec![seen(value, 1, 1)],
            ..Observation::default()
        };
        let lost = |near| Observation {
            lost: true,
            near,
            ..at(9, "optimised out")
        };
        let nearby = told(lost(Some(Box::new(at(6, "-7")))), "exit status 1");
        assert_eq!(
            nearby,
            "reached once:\n  hit 1: optimised out\nThe compiler kept no value of it there. At line 6 of the same function, reached once:\n  hit 1: -7\nThen the program ended with exit status 1."
        );
        let nowhere = told(lost(None), "exit status 1");
        assert!(
            nowhere.contains("nor at the lines around. Ask for what it is made of"),
            "{nowhere}"
        );
    }

    #[test]
    fn what_was_not_seen_is_told_plainly() {
        let with = |code: &[u32], known| Observation {
            code: code.to_vec(),
            known,
            ..Observation::default()
        };
        for (observation, ended, expected) in [
            (
                with(&[3, 9], true),
                "exit status 0",
                "line 9 is never reached; the program ended with exit status 0",
            ),
            (
                with(&[3, 7, 12, 14], true),
                "exit status 0",
                "line 9 holds no code and was not come to; the nearest lines with code are 7 and 12",
            ),
            (
                with(&[], true),
                "time",
                "line 9 was not reached before the time for probes ran out",
            ),
            (
                with(&[], false),
                "exit status 0",
                "the program that ran has no code of a.c: it is not part of it, was never loaded, or was built without debug information",
            ),
        ] {
            assert_eq!(told(observation, ended), expected);
        }
    }

    #[test]
    fn lines_are_those_of_the_pristine_file() {
        let map = LineMap::between("a\nb\nc\n", "a\nnew\nb\nc\n");
        let observations = Observations {
            ended: "exit status 0".to_owned(),
            problem: None,
            probes: vec![Observation {
                known: true,
                ..Observation::default()
            }],
        };
        assert_eq!(
            answer(&asked(map.patched(3)), Some(&map), &observations, 0),
            "line 3 [patched line 4] is never reached; the program ended with exit status 0"
        );
    }
}
