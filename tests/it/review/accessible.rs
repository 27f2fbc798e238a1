//! Accessibility of the pages by axe-core, in both themes and on a narrow screen.

use super::browser::{DESK, PHONE, Served, browser, expect_quiet, keep};
use super::seed::Seeded;
use crate::scene::{GOOD, Scene};
use patchwright_tests::browser::Browser;
use patchwright_tests::model::ScriptedModel;
use std::io::Write;
use std::process::Command;

/// The version of axe-core that is asked of npm.
const AXE: &str = "axe-core@4.10.3";

/// The text of axe-core; nothing where npm cannot get it.
fn axe() -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    let place = folder.path().display().to_string();
    let arguments = [
        "install",
        "--prefix",
        &place,
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        AXE,
    ];
    let installed = Command::new("npm").args(arguments).output();
    let text = std::fs::read_to_string(folder.path().join("node_modules/axe-core/axe.min.js"));
    if text.is_err() {
        let reason = installed.map_or_else(
            |error| error.to_string(),
            |output| String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert!(
            option_env!("PATCHWRIGHT_BROWSER") != Some("required"),
            "no axe-core: {reason}"
        );
        let mut err = std::io::stderr();
        let _ = writeln!(
            err,
            "SKIPPED: accessibility was not checked, npm has no {AXE}: {reason}"
        );
    }
    text.ok()
}

/// The findings of axe-core that are serious, one a line.
fn findings(browser: &Browser, axe: &str) -> String {
    browser
        .run(&format!("{axe}; window.axe = axe; window.found = null;"))
        .unwrap();
    browser
        .run("axe.run(document).then((told) => { window.found = told.violations.filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')).join('\\n'); })")
        .unwrap();
    browser.wait("return window.found !== null").unwrap();
    browser
        .run("return window.found")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn pages_have_no_serious_finding_and_fit_a_phone() {
    let Some(browser) = browser() else { return };
    let scene = Scene::new();
    let model = ScriptedModel::start([GOOD]).unwrap();
    let run = scene.run(&model, &["--dry-run"]).run().to_owned();
    let seeded = Seeded::hostile(&scene);
    let large = Seeded::large(&scene);
    let served = Served::start(&scene, &[]);
    browser.open(&served.address).unwrap();
    browser.text("a.task").unwrap();
    let axe = axe();
    for (size, theme) in [(DESK, "light"), (DESK, "dark"), (PHONE, "light")] {
        browser.look(size, theme).unwrap();
        for path in [
            "/review".to_owned(),
            "/review/plots".to_owned(),
            format!("/review/runs/{}", large.run),
            format!("/review/runs/{}/attempts/1", seeded.run),
            format!("/review/runs/{run}/attempts/1?view=unified"),
        ] {
            browser.open(&served.at(&path)).unwrap();
            browser.text("h1").unwrap();
            let wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth").unwrap();
            assert_eq!(wide, 0, "{path} is wider than its screen at {size:?}");
            if let Some(axe) = &axe {
                assert_eq!(findings(&browser, axe), "", "{path} {theme} {size:?}");
            }
        }
        let ground = browser
            .run("return getComputedStyle(document.body).backgroundColor")
            .unwrap();
        assert_eq!(ground == "rgb(255, 255, 255)", theme == "light", "{ground}");
        if size == PHONE {
            keep(&browser, "review-phone");
        }
    }
    expect_quiet(&browser);
}
