//! Trees with links that lead out, pipes, and what a build needs.

use super::Tree;
use crate::{SourceError, TreePath};
use std::os::unix::fs::symlink;

fn fixture() -> (tempfile::TempDir, Tree) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("src/.git")).unwrap();
    std::fs::write(folder.path().join("src/a.c"), "int a;\n").unwrap();
    std::fs::write(folder.path().join("src/.git/config"), "secret").unwrap();
    std::fs::write(folder.path().join(".gitignore"), "src/\n").unwrap();
    symlink("/etc/passwd", folder.path().join("out")).unwrap();
    symlink("../../etc/passwd", folder.path().join("src/climb")).unwrap();
    symlink("src/a.c", folder.path().join("inside")).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    let tree = Tree::open(folder.path()).unwrap();
    (folder, tree)
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).unwrap()
}

#[test]
fn reads_only_inside() {
    let (_folder, tree) = fixture();
    assert_eq!(tree.read(&path("src/a.c")).unwrap().bytes(), b"int a;\n");
    assert_eq!(tree.read(&path("inside")).unwrap().bytes(), b"int a;\n");
    assert!(matches!(
        tree.read(&path("src/.git/config")),
        Err(SourceError::Outside { .. })
    ));
    for refused in ["out", "src/climb", "loop", "src"] {
        assert!(
            matches!(tree.read(&path(refused)), Err(SourceError::NotAFile { .. })),
            "{refused}"
        );
    }
    assert!(matches!(
        tree.read(&path("none.c")),
        Err(SourceError::NotFound { .. })
    ));
    assert!(matches!(
        tree.read_up_to(&path("src/a.c"), 3),
        Err(SourceError::TooLarge { .. })
    ));
}

#[test]
fn a_pipe_neither_opens_nor_blocks() {
    let (folder, tree) = fixture();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(matches!(
        tree.read(&path("pipe")),
        Err(SourceError::NotAFile { .. })
    ));
    assert!(!tree.files().contains(&path("pipe")));
}

#[test]
fn rebases_foreign_paths() {
    let (_folder, tree) = fixture();
    for foreign in [
        "src/a.c",
        "/src/src/a.c",
        "/build/x/../src/a.c",
        "./src/a.c",
        "C:\\work\\src\\a.c",
    ] {
        assert_eq!(tree.rebase(foreign), Some(path("src/a.c")), "{foreign}");
    }
    for foreign in ["/etc/passwd", "", "../../etc/passwd", "/", "src", "out"] {
        assert_eq!(tree.rebase(foreign), None, "{foreign}");
    }
}

#[test]
fn lists_what_a_build_needs() {
    let (_folder, tree) = fixture();
    let files: Vec<String> = tree.files().iter().map(ToString::to_string).collect();
    assert_eq!(files, [".gitignore", "src/a.c"]);
}
