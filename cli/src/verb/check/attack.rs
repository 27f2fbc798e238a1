//! `patchwright check --attack`: tries to get out of every isolation that this
//! machine offers, and prints what held.

use crate::common::Format;
use patchwright_agent::template::fill;
use patchwright_sandbox::attack::{Attack, attack, attack_in};
use patchwright_sandbox::{Host, Image, IsolationChoice, offered};
use serde_json::{Value, json};

/// The result for people.
const TEXT: &str = include_str!("attack.txt");

/// An isolation, and what came of the attack; or why it was not attacked.
type Tried = (IsolationChoice, Result<Attack, String>);

/// Attacks the containers of an image where one is named, or each isolation of this machine
/// that the choice allows, one after the other; the text to print, and whether there was one
/// and all of them held.
pub(super) async fn look(
    (image, choice): (Option<&Image>, IsolationChoice),
    host: &Host,
    format: Format,
) -> anyhow::Result<(String, bool)> {
    let mut all = Vec::new();
    if let Some(image) = image {
        let attack = attack_in(image, host.clone()).await;
        let attack = attack.map_err(|error| error.to_string());
        all.push((IsolationChoice::Container, attack));
    } else {
        let isolations = match choice {
            IsolationChoice::Auto => vec![IsolationChoice::Bubblewrap, IsolationChoice::Landlock],
            named => vec![named],
        };
        for isolation in isolations {
            all.push((isolation, attack_one(isolation, choice, host).await));
        }
    }
    let values = json(&all);
    let text = format.render(&values, || Ok(fill(TEXT, &values)?))?;
    Ok((text, held(&all)))
}

/// Attacks one isolation. `auto` takes none that leaves the user's files open,
/// so that one is attacked only when it was asked for.
async fn attack_one(
    isolation: IsolationChoice,
    choice: IsolationChoice,
    host: &Host,
) -> Result<Attack, String> {
    if isolation == IsolationChoice::None {
        return Err("it keeps nothing apart, so every way leads out".to_owned());
    }
    if choice == IsolationChoice::Auto {
        offered(isolation, host).await?;
    }
    let attack = attack(isolation, host.clone()).await;
    attack.map_err(|error| error.to_string())
}

fn held(all: &[Tried]) -> bool {
    let mut attacked = all.iter().filter_map(|(_, attack)| attack.as_ref().ok());
    let any = attacked.clone().next().is_some();
    any && attacked.all(|attack| attack.escaped().next().is_none())
}

fn json(all: &[Tried]) -> Value {
    let isolations = all.iter().map(|(isolation, attack)| match attack {
        Err(reason) => json!({ "isolation": isolation, "not_attacked": reason }),
        Ok(attack) => json!({
            "isolation": isolation,
            "leaves_open": attack.isolation.leaves_open,
            "escapes": attack.escapes,
        }),
    });
    json!({ "schema": 1, "held": held(all), "isolations": isolations.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::{TEXT, Tried, fill, held, json};
    use patchwright_sandbox::attack::{Attack, Escape};
    use patchwright_sandbox::{Isolation, IsolationChoice};

    fn tried(held: &[bool]) -> Tried {
        let escape = |held: &bool| Escape {
            name: "reads a file outside".to_owned(),
            held: *held,
            detail: "why".to_owned(),
        };
        let isolation = Isolation {
            kind: IsolationChoice::Landlock,
            leaves_open: vec!["names of processes".to_owned()],
            passed_over: Vec::new(),
        };
        let escapes = held.iter().map(escape).collect();
        (IsolationChoice::Landlock, Ok(Attack { isolation, escapes }))
    }

    #[test]
    fn one_way_out_is_a_failure_and_so_is_no_sandbox_at_all() {
        let refused = (IsolationChoice::Bubblewrap, Err("no bwrap".to_owned()));
        assert!(held(&[tried(&[true, true]), refused.clone()]));
        assert!(!held(&[tried(&[true, true]), tried(&[true, false])]));
        assert!(!held(std::slice::from_ref(&refused)));
        let all = [tried(&[true, false]), refused];
        let expected = "  held     reads a file outside  why\n  ESCAPED  reads a file outside  why\n  open     names of processes\nlandlock: 1 of 2 held\nbubblewrap: not attacked: no bwrap\n";
        assert_eq!(fill(TEXT, &json(&all)).unwrap(), expected);
        assert_eq!(json(&all)["isolations"][0]["escapes"][1]["held"], false);
    }
}
