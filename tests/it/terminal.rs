//! Manners at the terminal: colours, completions, manual pages.

use crate::scene::Scene;

#[test]
fn the_command_line_is_documented_for_shells_and_for_man() {
    let scene = Scene::new();
    for (shell, words) in [
        ("bash", "_patchwright"),
        ("zsh", "#compdef patchwright"),
        ("fish", "complete -c patchwright"),
    ] {
        let told = scene.plain(&["completions", shell]);
        assert_eq!(told.code, Some(0));
        assert!(
            told.stdout.contains(words) && told.stdout.contains("resume"),
            "{shell}"
        );
    }
    assert_eq!(scene.plain(&["man", "pages"]).code, Some(0));
    let page = scene.patchwright.scratch("pages/patchwright-run.1");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("\\-\\-harmless"), "{page}");
}

#[test]
fn colours_are_used_where_they_are_asked_for() {
    let scene = Scene::new();
    let colored = |arguments: &[&str]| {
        let mut all = vec!["judge", "records", "--patch", "a.diff"];
        all.extend(arguments);
        scene
            .patchwright
            .run(&all)
            .unwrap()
            .stderr
            .contains("\u{1b}[3")
    };
    std::fs::write(
        scene.patchwright.scratch("a.diff"),
        "--- a/records.h\n+++ b/records.h\n@@ -99,1 +99,1 @@\n-nothing\n+of this\n",
    )
    .unwrap();
    assert!(colored(&["--color", "always"]));
    assert!(!colored(&["--color", "never"]));
    assert!(!colored(&[]), "standard error is no terminal");
}
