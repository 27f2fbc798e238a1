//! Sources of a task besides a folder: a repository, an archive, a fetch command.
//! No model is needed here: the endpoint is down, and the fetched source is in the
//! cache by then.

use patchwright_tests::command::{Finished, Patchwright};
use std::path::{Path, PathBuf};
use std::process::Command;

const HEAD: &str = "id = \"fetched\"\nlanguage = \"c\"\nmode = \"dry-run\"\n[crash]\nreport = \"crash.log\"\n[source]\n";

/// Runs a dry run of a task with this source; the folder may hold more files.
fn run(patchwright: &Patchwright, source: &str) -> Finished {
    let folder = patchwright.scratch("task");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("task.toml"), format!("{HEAD}{source}\n")).unwrap();
    std::fs::write(
        folder.join("crash.log"),
        "a.c:1:1: runtime error: division by zero\n",
    )
    .unwrap();
    let folder = folder.to_str().unwrap();
    let endpoint = [
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--set",
        "model.retries.count=0",
    ];
    let mut arguments = vec!["run", folder];
    arguments.extend(endpoint);
    patchwright.run(&arguments).unwrap()
}

/// The one tree that was fetched.
fn fetched(patchwright: &Patchwright) -> Option<PathBuf> {
    let sources = patchwright.folder().join("cache/patchwright/sources");
    let mut found = std::fs::read_dir(sources)
        .ok()?
        .map(|entry| entry.unwrap().path());
    let only = found.next()?;
    assert!(found.next().is_none(), "one tree and nothing half done");
    Some(only)
}

fn shell(folder: &Path, script: &str) -> String {
    std::fs::create_dir_all(folder).unwrap();
    let output = Command::new("sh")
        .args(["-euc", script])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

const REPOSITORY: &str = "git init -q . && echo 'int first;' >a.c && git add a.c
export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
git commit -qm one && git rev-parse HEAD && echo 'int second;' >a.c && git commit -qam two";

#[test]
fn a_repository_is_checked_out_at_its_revision() {
    let patchwright = Patchwright::new().unwrap();
    let revision = shell(&patchwright.scratch("repository"), REPOSITORY);
    let finished = run(
        &patchwright,
        &format!("git = \"../repository\"\nrevision = \"{revision}\""),
    );
    assert_eq!(finished.code, Some(5), "{}", finished.stderr);
    let tree = fetched(&patchwright).unwrap();
    assert_eq!(
        std::fs::read_to_string(tree.join("a.c")).unwrap(),
        "int first;\n"
    );
}

#[test]
fn an_archive_needs_its_hash() {
    let patchwright = Patchwright::new().unwrap();
    let folder = patchwright.scratch("task");
    let hash = shell(
        &folder,
        "mkdir project && echo 'int x;' >project/a.c && tar czf src.tar.gz project && rm -r project && sha256sum src.tar.gz | cut -c1-64",
    );
    let wrong = run(
        &patchwright,
        &format!("archive = \"src.tar.gz\"\nsha256 = \"{}\"", "0".repeat(64)),
    );
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stdout.contains(&format!("the archive has {hash}")),
        "{}",
        wrong.stdout
    );
    assert_eq!(fetched(&patchwright), None);
    let right = run(
        &patchwright,
        &format!("archive = \"src.tar.gz\"\nsha256 = \"{hash}\""),
    );
    assert_eq!(right.code, Some(5), "{}", right.stderr);
    assert!(fetched(&patchwright).unwrap().join("project/a.c").is_file());
}

#[test]
fn a_source_that_cannot_be_got_is_said_plainly() {
    for (source, expected) in [
        (
            "git = \"../nowhere\"\nrevision = \"main\"",
            "fetch command failed",
        ),
        (
            "git = \"../nowhere\"\nrevision = \"--upload-pack=x\"",
            "source.revision",
        ),
        (
            "archive = \"none.tar\"\nsha256 = \"00\"",
            "none.tar cannot be read",
        ),
        ("fetch = \"true\"", "left $TREE empty"),
        ("fetch = \"echo no luck; exit 3\"", "no luck"),
    ] {
        let patchwright = Patchwright::new().unwrap();
        let finished = run(&patchwright, source);
        assert_eq!(finished.code, Some(2), "{source}: {}", finished.stdout);
        assert!(
            finished.stdout.contains(expected),
            "{source}: {}",
            finished.stdout
        );
        assert_eq!(fetched(&patchwright), None, "{source}");
    }
}

/// A repository whose settings name a program at each place where git runs one.
#[test]
fn a_repository_has_none_of_its_programs_run() {
    const HOSTILE: &str = "
echo 'echo EVIL >&2; exit 1' >evil.sh
rm -f .git/objects/$(git rev-parse HEAD:a.c | sed 's,^..,&/,')
git config core.fsmonitor 'sh ./evil.sh'
git config core.repositoryformatversion 1
git config extensions.partialClone origin
git config remote.origin.url .
git config remote.origin.promisor true
git config remote.origin.uploadpack 'sh ./evil.sh'";
    let patchwright = Patchwright::new().unwrap();
    shell(
        &patchwright.scratch("repository"),
        &format!("{REPOSITORY}{HOSTILE}"),
    );
    let finished = run(&patchwright, "git = \"../repository\"\nrevision = \"HEAD\"");
    assert_eq!(finished.code, Some(2), "{finished:#?}");
    let said = finished.stdout + &finished.stderr;
    assert!(said.contains("fetch command failed"), "{said}");
    assert!(!said.contains("EVIL"), "{said}");
}
