//! The page in a real browser, as a reviewer uses it. Without Chromium and its driver
//! these tests are skipped, and say so; `PATCHWRIGHT_BROWSER=required` makes that a
//! failure.

use super::seed::Seeded;
use super::{decisions, proposed};
use crate::scene::{DOES_NOT_BUILD, GOOD, QUERIES, STILL_CRASHES, Scene};
use base64::prelude::{BASE64_STANDARD, Engine};
use patchwright_tests::browser::Browser;
use patchwright_tests::model::{Answer, ScriptedModel};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Size of a window of a desk, and of a phone.
pub(super) const DESK: (u32, u32) = (1120, 660);
pub(super) const PHONE: (u32, u32) = (390, 844);
/// Bytes of the largest picture.
const LARGEST: usize = 150_000;
/// Counts how far things that nobody touched have moved.
const SHIFTS: &str = "window.moved = 0; new PerformanceObserver((list) => { for (const one of list.getEntries()) \
    if (!one.hadRecentInput) window.moved += one.value; }).observe({type: 'layout-shift', buffered: true});";

/// A browser, or a loud word that there is none.
pub(super) fn browser() -> Option<Browser> {
    match Browser::start() {
        Ok(browser) => Some(browser),
        Err(error) => {
            assert!(
                option_env!("PATCHWRIGHT_BROWSER") != Some("required"),
                "no browser: {error}"
            );
            // Past the capture of the test harness, so that a skip is never silent.
            let mut err = std::io::stderr();
            let _ = writeln!(
                err,
                "SKIPPED: the review page was not tried in a browser: {error}"
            );
            None
        }
    }
}

/// `patchwright review`, ended with the test.
pub(super) struct Served {
    child: Child,
    pub(super) address: String,
}

impl Served {
    pub(super) fn start(scene: &Scene, arguments: &[&str]) -> Self {
        let mut all = vec!["review"];
        all.extend(arguments);
        let mut command = scene.patchwright.command(&all).unwrap();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut address)
            .unwrap();
        let address = address.trim().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Self { child, address }
    }

    pub(super) fn at(&self, path: &str) -> String {
        let (origin, _) = self.address.split_once("/review").unwrap();
        format!("{origin}{path}")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps a picture of the page where the documentation has it, when that is wanted.
pub(super) fn keep(browser: &Browser, name: &str) {
    let picture = browser.picture().unwrap();
    let picture = BASE64_STANDARD.decode(picture).unwrap();
    assert!(picture.len() < LARGEST, "{name}: {} bytes", picture.len());
    if option_env!("UPDATE_SCREENSHOTS").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/images");
        std::fs::write(folder.join(format!("{name}.png")), picture).unwrap();
    }
}

/// The console holds no error: nothing was blocked, nothing failed.
pub(super) fn expect_quiet(browser: &Browser) {
    assert_eq!(browser.console().unwrap(), Vec::<String>::new());
}

#[test]
fn a_reviewer_finds_a_refused_patch_opens_it_and_approves_another() {
    let Some(browser) = browser() else { return };
    let scene = Scene::new();
    let model = ScriptedModel::start([QUERIES, STILL_CRASHES, DOES_NOT_BUILD, GOOD]).unwrap();
    let run = scene.run(&model, &[]).run().to_owned();
    proposed(&scene);
    let served = Served::start(&scene, &[]);
    browser.look(DESK, "light").unwrap();
    browser.open(&served.address).unwrap();
    // List and filter.
    browser
        .wait("return document.querySelectorAll('a.task').length == 2")
        .unwrap();
    keep(&browser, "review-list");
    browser
        .click("select[name=ending] option[value=verified]")
        .unwrap();
    browser.click("form.filter button").unwrap();
    browser.wait("return location.search.includes('verified') && document.querySelectorAll('a.task').length == 1").unwrap();
    // The run, and its refused attempt: the reason stands at the top.
    browser.click("a.task").unwrap();
    browser
        .wait("return document.querySelectorAll('a[data-row]').length == 3")
        .unwrap();
    keep(&browser, "review-run");
    browser.click("#lines li:first-child summary").unwrap();
    browser
        .wait("return document.querySelector('#lines pre.log') !== null")
        .unwrap();
    // What was opened below may have left the rows under the bar at the top.
    browser.wait("scrollTo(0, 0); return true").unwrap();
    browser.click("a[data-row]").unwrap();
    assert!(browser.text(".banner").unwrap().contains("Refused: silent"));
    // Its log was fetched without a click; code around the change comes with one.
    browser.wait("return document.querySelector('[aria-labelledby=refusal] pre.log + *, .loaded pre.log')?.innerText.includes('AddressSanitizer') ?? document.body.innerText.includes('ERROR: AddressSanitizer')").unwrap();
    keep(&browser, "review-candidate");
    browser.click("button[data-expand]").unwrap();
    browser
        .wait("return document.querySelector('tr.around')?.innerText.includes('#include') === true")
        .unwrap();
    browser.click("a[data-key=u]").unwrap();
    browser
        .wait("return document.querySelector('table.unified') !== null")
        .unwrap();
    let third = served.at(&format!("/review/runs/{run}/attempts/3"));
    reads_well(&browser, &third, &served.at(&format!("/review/runs/{run}")));
    browser.open(&third).unwrap();
    browser.click("form[action$=approve] button").unwrap();
    browser
        .wait("return document.querySelector('h1 .badge.good')?.innerText == 'approved'")
        .unwrap();
    let told = decisions(&scene);
    assert_eq!((told.len(), &told[0]["kind"]), (1, &"approve".into()));
    assert_eq!(told[0]["attempt"], 3);
    expect_quiet(&browser);
    // The printed address worked once.
    browser.open(&served.address).unwrap();
    assert!(browser.text("h1").unwrap().contains("Open it anew"));
}

/// Looks at a candidate on a small desk and on a phone, and at its patch on the page of its run.
fn reads_well(browser: &Browser, third: &str, run: &str) {
    // The third: what to do is in sight on a small desk, what comes with the patch on a phone.
    browser.look((1280, 800), "light").unwrap();
    browser.open(third).unwrap();
    let in_sight = "return ['approve', 'reject'].every(verb => document.querySelector(`form[action$=${verb}] button`).getBoundingClientRect().bottom <= innerHeight)";
    browser.wait(in_sight).unwrap();
    assert!(
        browser
            .text(".banner")
            .unwrap()
            .contains("of 100 patches with evidence like this")
    );
    browser.look(PHONE, "light").unwrap();
    for view in ["split", "unified"] {
        browser.open(&format!("{third}?view={view}")).unwrap();
        let added = "const line = document.querySelector('.code.add').getBoundingClientRect(); return line.width > 200 && line.right <= innerWidth";
        browser.wait(added).unwrap();
    }
    // Its patch stands on the page of its run.
    browser.look(DESK, "light").unwrap();
    browser.open(run).unwrap();
    browser
        .wait("return document.querySelector('[aria-labelledby=patch] .code.add').innerText.includes('NAME_LIMIT')")
        .unwrap();
}

#[test]
fn a_rejection_starts_an_attempt_that_the_page_follows_live() {
    let Some(browser) = browser() else { return };
    let scene = Scene::new();
    let slow = |text: &str| Answer::After(Duration::from_secs(2), Box::new(text.into()));
    let answers = [
        STILL_CRASHES.into(),
        GOOD.into(),
        slow(QUERIES),
        slow(DOES_NOT_BUILD),
        slow(GOOD),
    ];
    let model = ScriptedModel::start(answers).unwrap();
    let first = scene.run(&model, &[]).run().to_owned();
    let endpoint = format!("model.base_url={}", model.base_url());
    let served = Served::start(
        &scene,
        &[&first, "--set", "model.name=scripted", "--set", &endpoint],
    );
    let script = serde_json::json!({"source": SHIFTS});
    browser
        .command("Page.addScriptToEvaluateOnNewDocument", &script)
        .unwrap();
    browser.look(DESK, "light").unwrap();
    browser.open(&served.address).unwrap();
    browser.click("a[data-row]").unwrap();
    browser
        .fill(
            "form[action$=reject] textarea",
            "names of sixteen letters are right",
        )
        .unwrap();
    browser.click("form[action$=reject] button").unwrap();
    // The page of the new run, which is told what happens and keeps room for it.
    browser.wait(&format!("return location.pathname.startsWith('/review/runs/') && !location.pathname.includes({first:?})")).unwrap();
    assert!(
        browser
            .text(".note")
            .unwrap()
            .contains("names of sixteen letters are right")
    );
    assert!(browser.text("#rows").unwrap().contains("not made yet"));
    follow(&browser);
    let asked = model.requests();
    assert!(
        asked[2]
            .body
            .to_string()
            .contains("names of sixteen letters are right")
    );
    expect_quiet(&browser);
}

/// Watches a run to its end: the page is told, is not loaded anew, and does not move.
fn follow(browser: &Browser) {
    browser.run("window.stayed = true").unwrap();
    browser
        .wait("return document.querySelectorAll('#lines > li').length > 3")
        .unwrap();
    browser
        .wait("return document.querySelectorAll('a[data-row]').length == 2")
        .unwrap();
    keep(browser, "review-live");
    browser
        .wait("return document.querySelector('#rows').innerText.includes('builds: ')")
        .unwrap();
    browser.wait("return document.body.dataset.events === undefined && document.querySelector('#verdict').innerText.includes('attempt')").unwrap();
    assert_eq!(
        browser.run("return window.stayed").unwrap(),
        true,
        "it was not loaded anew"
    );
    let moved = browser
        .run("return window.moved")
        .unwrap()
        .as_f64()
        .unwrap();
    assert!(moved < 0.01, "the page moved by {moved}");
}

#[test]
fn hostile_text_stays_text_and_a_doubt_is_contested() {
    let Some(browser) = browser() else { return };
    let scene = Scene::new();
    let seeded = Seeded::hostile(&scene);
    let served = Served::start(&scene, &[&seeded.run]);
    browser.look(DESK, "dark").unwrap();
    browser.open(&served.address).unwrap();
    let untouched = "return window.pwned === undefined && document.querySelector('main img, main script') === null";
    browser.text("#rows a").unwrap();
    browser
        .run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        .unwrap();
    browser.wait("return [...document.querySelectorAll('details[data-load] > .loaded')].slice(0, 4).every((one) => one.querySelector('pre'))").unwrap();
    assert_eq!(browser.run(untouched).unwrap(), true);
    browser.click("a[data-row]").unwrap();
    browser.text(".banner").unwrap();
    assert_eq!(browser.run(untouched).unwrap(), true);
    assert!(
        browser
            .text("figcaption code")
            .unwrap()
            .contains("<script>window.pwned=1</script>U+202E")
    );
    let pair = browser.text(".doubt .pair").unwrap();
    assert!(
        pair.contains("before \"'><img") && pair.contains("after \"'><img"),
        "{pair}"
    );
    browser
        .fill(".doubt input[name=reason]", "the format says so")
        .unwrap();
    browser.click(".doubt form button").unwrap();
    browser.wait("return document.querySelector('.doubt').innerText.includes('finds the new output right: the format says so')").unwrap();
    let told = decisions(&scene);
    assert_eq!(
        (&told[0]["kind"], &told[0]["input"]),
        (&"contest".into(), &seeded.log.into())
    );
    browser.open(&served.at("/review")).unwrap();
    browser.text("a.task").unwrap();
    assert_eq!(browser.run(untouched).unwrap(), true);
    expect_quiet(&browser);
}

#[test]
fn everything_can_be_done_with_keys() {
    let Some(browser) = browser() else { return };
    let scene = Scene::new();
    proposed(&scene);
    let served = Served::start(&scene, &[]);
    browser.look(DESK, "light").unwrap();
    browser.open(&served.address).unwrap();
    browser.text("a.task").unwrap();
    let (tab, enter) = ("\u{e004}", "\u{e007}");
    browser.press(&["/"]).unwrap();
    browser.press(&["r", "e", "c", enter]).unwrap();
    browser.wait("return location.search.includes('text=rec') && document.querySelector('a.task') !== null").unwrap();
    browser.press(&["j", enter]).unwrap();
    browser
        .wait("return document.querySelector('a[data-row]') !== null")
        .unwrap();
    browser.press(&["j", enter]).unwrap();
    browser
        .wait("return document.querySelector('form[action$=approve]') !== null")
        .unwrap();
    browser.press(&["u"]).unwrap();
    browser
        .wait("return document.querySelector('table.unified') !== null")
        .unwrap();
    // By the tabulator to the button, as far as it is.
    for _ in 0..60 {
        if browser.run("return document.activeElement.closest('form')?.action.endsWith('approve') ?? false").unwrap() == true {
            break;
        }
        browser.press(&[tab]).unwrap();
    }
    browser.press(&[enter]).unwrap();
    browser
        .wait("return document.querySelector('h1 .badge.good') !== null")
        .unwrap();
    assert_eq!(decisions(&scene)[0]["kind"], "approve");
}
