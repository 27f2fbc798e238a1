//! Kind of a file by its path: a test, a build file, version control.

use patchwright_source::TreePath;

/// Folders that hold tests, by their whole name.
const TEST_FOLDERS: [&str; 9] = [
    "test",
    "tests",
    "unittest",
    "unittests",
    "unit_tests",
    "__tests__",
    "testdata",
    "test_data",
    "testsuite",
];

/// Files that steer a build, by whole name in lower case.
const BUILD_FILES: [&str; 62] = [
    "makefile",
    "gnumakefile",
    "bsdmakefile",
    "makefile.in",
    "makefile.am",
    "makevars",
    "cmakelists.txt",
    "cmakepresets.json",
    "meson.build",
    "meson_options.txt",
    "meson.options",
    "build",
    "build.bazel",
    "workspace",
    "workspace.bazel",
    "module.bazel",
    "sconstruct",
    "sconscript",
    "wscript",
    "configure",
    "configure.ac",
    "configure.in",
    "autogen.sh",
    "bootstrap.sh",
    "pom.xml",
    "build.xml",
    "ivy.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.properties",
    "gradlew",
    "mvnw",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    "tox.ini",
    "noxfile.py",
    "cargo.toml",
    "cargo.lock",
    "build.rs",
    "go.mod",
    "go.sum",
    "package.json",
    "package-lock.json",
    "dockerfile",
    "containerfile",
    "docker-compose.yml",
    "build.sh",
    "run_tests.sh",
    "test.sh",
    "vcpkg.json",
    "conanfile.txt",
    "conanfile.py",
    "jenkinsfile",
    ".travis.yml",
    ".gitlab-ci.yml",
    ".gitattributes",
    ".gitmodules",
    "project.yaml",
    "kconfig",
];

/// Extensions of build files.
const BUILD_EXTENSIONS: [&str; 13] = [
    "mk", "mak", "cmake", "am", "ac", "bzl", "bazel", "gradle", "gn", "gni", "ninja", "vcxproj",
    "m4",
];

/// Folders that steer a build, by their whole name.
const BUILD_FOLDERS: [&str; 4] = [".github", ".circleci", ".clusterfuzzlite", ".mvn"];

/// Returns true when a part of a path is none of the program: version control, and what
/// a contest keeps beside it.
pub(crate) fn is_version_control(part: &str) -> bool {
    [".git", ".hg", ".svn", ".jj", ".aixcc"]
        .iter()
        .any(|folder| part.eq_ignore_ascii_case(folder))
}

/// Returns true when a path is one of a build file.
pub(crate) fn is_build_file(path: &TreePath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    BUILD_FILES.contains(&name.as_str())
        || extension.is_some_and(|extension| BUILD_EXTENSIONS.contains(&extension))
        || name.starts_with("dockerfile.")
        || path
            .folder()
            .split('/')
            .any(|part| BUILD_FOLDERS.contains(&part))
}

/// Returns true when a path is one of a test.
pub(crate) fn is_test(path: &TreePath) -> bool {
    let in_folder = path
        .folder()
        .split('/')
        .any(|part| TEST_FOLDERS.contains(&part.to_ascii_lowercase().as_str()));
    in_folder || is_test_name(path)
}

fn is_test_name(path: &TreePath) -> bool {
    let name = path.file_name();
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    match extension {
        "java" | "kt" | "scala" => {
            let product = path.as_str().contains("src/main/");
            let suffix = ["Test", "Tests", "TestCase"]
                .iter()
                .any(|end| stem.ends_with(end));
            let prefix = stem
                .strip_prefix("Test")
                .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_uppercase()));
            !product && (suffix || prefix)
        }
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || stem == "conftest",
        "go" | "rs" => stem.ends_with("_test") || stem == "tests",
        "js" | "ts" | "jsx" | "tsx" | "mjs" => {
            let kind = stem.rsplit_once('.').map(|(_, kind)| kind);
            kind.is_some_and(|kind| kind == "test" || kind == "spec")
        }
        "c" | "cc" | "cpp" | "cxx" => {
            let marks = ["_test", "_tests", "_unittest", "_unittests", "-test"];
            stem.starts_with("test_")
                || stem.starts_with("test-")
                || stem == "test"
                || stem == "tests"
                || marks.iter().any(|mark| stem.ends_with(mark))
        }
        _ => false,
    }
}
