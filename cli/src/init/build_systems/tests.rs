//! Tests of the build systems: the commands that are proposed for a tree.

use super::*;
use std::fs;

#[test]
fn words_of_the_table_are_filled_in() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["configure.ac", "build.gradle", "gradlew"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    let [outside, inside] = &proposals(folder.path(), Language::C, None).unwrap()[..] else {
        panic!("two places");
    };
    assert!(outside.build.starts_with(
        r#"[ -e "$TREE"/configure ] || (cd "$TREE" && autoreconf -fi); mkdir -p "$OUT"/build && cd"#
    ));
    assert_eq!(
        inside.tests[0],
        r#"ASAN_OPTIONS=detect_leaks=0 make -C "$TREE" check"#
    );
    let of_java = proposals(folder.path(), Language::Java, None).unwrap();
    let given = Proposal::given("ant", &[&of_java[..], &of_java].concat());
    assert_eq!(given.reports, ["**/build/test-results/**/*.xml"]);
    assert_eq!(given.tests, of_java[0].tests);
    let gradle = &of_java[0];
    assert_eq!(
        gradle.prepare.as_deref(),
        Some(r#"sh ./gradlew --no-daemon -g "$HOME"/gradle assemble testClasses"#)
    );
}

#[test]
fn an_old_project_is_made_newer_where_a_tool_refuses_it() {
    let folder = tempfile::tempdir().unwrap();
    let pom = "<artifactId>junit</artifactId>\n <version>4.10</version>\n<source>1.5</source> <target>7</target> <source>17</source>";
    fs::write(folder.path().join("pom.xml"), pom).unwrap();
    let maven = &proposals(folder.path(), Language::Java, None).unwrap()[0];
    assert_eq!(maven.newer("cannot find symbol"), None);
    let newer = maven.newer("Source option 5 is no longer supported. Use 7 or later.");
    let newer = newer.unwrap();
    assert_eq!(newer.system, "Maven with Java 8 and JUnit 4.13");
    let begin = newer.prepare.unwrap();
    let begin = begin.strip_suffix(maven.prepare.as_deref().unwrap());
    let shell = std::process::Command::new("sh")
        .args(["-euc", begin.unwrap()])
        .current_dir(folder.path())
        .status();
    assert!(shell.unwrap().success());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        read("pom.xml"),
        "<artifactId>junit</artifactId>\n <version>4.13.2</version>\n<source>8</source> <target>8</target> <source>17</source>"
    );
    assert!(read(".mvn/maven.config").ends_with("\n-Dmaven.compiler.target=8"));
}

#[test]
fn the_module_of_the_crash_is_built_where_a_build_of_all_fails() {
    let folder = tempfile::tempdir().unwrap();
    let sources = folder.path().join("core/fold/src/main/java/a");
    fs::create_dir_all(&sources).unwrap();
    fs::write(sources.join("B.java"), "class B {}").unwrap();
    for file in ["pom.xml", "core/fold/pom.xml"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    let log = "Exception in thread \"main\" java.lang.NullPointerException\n\tat java.base/java.util.Map.of(Map.java:1)\n\tat a.B.c(B.java:1)\n";
    let found = |log| proposals(folder.path(), Language::Java, log).unwrap();
    assert_eq!(found(None).len(), 2);
    let [all, _, module, _] = &found(Some(log))[..] else {
        panic!("all and one module, at two places");
    };
    let commands = |of: &Proposal| {
        [
            of.prepare.clone().unwrap(),
            of.build.clone(),
            of.tests[0].clone(),
        ]
    };
    for (all, module) in commands(all).iter().zip(commands(module)) {
        assert_eq!(*all, module.replace(" -pl core/fold -am", ""));
        assert_eq!(
            module.matches(" -pl").count(),
            module.matches("mvn ").count()
        );
        assert_ne!(*all, module);
    }
}

#[test]
fn a_configure_that_is_not_of_autoconf_gets_no_options() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let configure = "#!/bin/sh\n[ $# = 0 ] && echo \"CC = $CC\" > Makefile.configure\n";
    let makefile = "include Makefile.configure\nfold:\n\techo $(CC) > fold\n";
    fs::write(folder.path().join("configure"), configure).unwrap();
    fs::write(folder.path().join("Makefile"), makefile).unwrap();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path().join("configure"), mode).unwrap();
    let builds = proposals(folder.path(), Language::C, None).unwrap();
    let succeed = builds.iter().map(|proposal| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-euc", &proposal.build]);
        shell.env("TREE", folder.path()).env("OUT", folder.path());
        let shell = shell.env("CFLAGS", "-fflag").env("JOBS", "1");
        shell.env_remove("CC").status().unwrap().success()
    });
    assert_eq!(succeed.collect::<Vec<_>>(), [false, false, true, true]);
    let compiler = fs::read_to_string(folder.path().join("fold")).unwrap();
    assert_eq!(compiler, "cc -fflag\n");
}

#[test]
fn test_scripts_of_the_tree_run_where_it_was_built() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scripts")).unwrap();
    for file in ["CMakeLists.txt", "scripts/run-tests.py", "test.sh"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    let tests = &proposals(folder.path(), Language::C, None).unwrap()[0].tests;
    assert_eq!(
        tests[1..],
        [
            r#"cmake --build "$OUT"/build --target check"#,
            r#"cmake --build "$OUT"/build --target test"#,
            r#"cd "$OUT"/build && bash "$TREE"/test.sh"#,
            r#"cd "$OUT"/build && python3 "$TREE"/scripts/run-tests.py"#,
        ]
    );
}

#[test]
fn options_that_name_programs_are_set_where_a_build_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    file(
        "CMakeLists.txt",
        "option(FOLD_BUILD_EXAMPLES \"examples\" OFF)\noption(FOLD_SIMD \"fast\" ON)\noption(\n  BUILD_TOOLS \"x\")\n",
    );
    file(
        "meson_options.txt",
        "option('tests', type : 'feature', value : 'auto')\noption('examples', type : 'boolean')\noption('test_dir', type : 'string')\n",
    );
    file("meson.build", "");
    let found = proposals(folder.path(), Language::C, None).unwrap();
    let builds: Vec<&str> = found
        .iter()
        .map(|proposal| proposal.build.as_str())
        .collect();
    let [plain, cmake, _, meson] = builds[..] else {
        panic!("{builds:?}");
    };
    assert!(plain.contains("-DBUILD_TESTING=ON && "), "{plain}");
    assert!(
        cmake.contains("=ON -DFOLD_BUILD_EXAMPLES=ON -DBUILD_TOOLS=ON && "),
        "{cmake}"
    );
    assert!(
        meson.contains("=false -Dtests=enabled -Dexamples=true \"$OUT\""),
        "{meson}"
    );
    let without: Vec<_> = found.iter().map(Proposal::without_tests).collect();
    let [Some(plain), Some(cmake), None, Some(meson)] = &without[..] else {
        panic!("{without:?}");
    };
    assert!(plain.build.contains("-DBUILD_TESTING=false && "));
    assert!(
        cmake
            .build
            .contains("-DBUILD_TESTING=false -DFOLD_BUILD_EXAMPLES=ON ")
    );
    assert!(
        meson
            .build
            .contains("=false -Dtests=disabled -Dexamples=true")
    );
    assert_eq!(cmake.without_tests(), None);
    let given = Proposal::given(builds[0], &found);
    assert_eq!(given.without_tests(), None);
}

#[test]
fn documents_are_left_out_and_fuzzers_are_built_by_clang() {
    let folder = tempfile::tempdir().unwrap();
    let declared = "option(FOLD_DOCS \"d\" ON)\noption(FOLD_FUZZERS \"f\" OFF)\noption(FOLD_TOOLS \"t\" ON)\noption(FOLD_OSSFUZZ \"o\" OFF)\n";
    fs::write(folder.path().join("CMakeLists.txt"), declared).unwrap();
    let options = |log| {
        let found = proposals(folder.path(), Language::C, log).unwrap();
        let of = |found: &Proposal| {
            let (beginning, rest) = found.build.split_once("cmake -S").unwrap();
            let set = rest.split_once("TESTING=ON").unwrap().1;
            let set = set.split_once(" &&").unwrap().0;
            (beginning.contains("CC=clang"), set.to_owned())
        };
        found.iter().map(of).collect::<Vec<_>>()
    };
    let plain = (false, String::new());
    let programs = (false, " -DFOLD_DOCS=OFF -DFOLD_TOOLS=ON".to_owned());
    let fuzzers = (
        true,
        " -DFOLD_DOCS=OFF -DFOLD_FUZZERS=ON -DFOLD_TOOLS=ON".to_owned(),
    );
    assert_eq!(
        options(None),
        [plain.clone(), programs.clone(), fuzzers.clone()]
    );
    let of_a_fuzzer = "    #2 0x4d in LLVMFuzzerTestOneInput /src/fuzz.c:9";
    assert_eq!(options(Some(of_a_fuzzer)), [fuzzers, plain, programs]);
}

#[test]
fn build_systems_are_known_by_their_files() {
    for (files, language, expected) in [
        (
            &["CMakeLists.txt", "Makefile"][..],
            Language::C,
            &["CMake", "make"][..],
        ),
        (
            &["configure"],
            Language::C,
            &["autotools", "autotools", "configure"],
        ),
        (
            &["autogen.sh", "configure.ac"],
            Language::Cpp,
            &["autotools", "autotools"],
        ),
        (&["meson.build"], Language::C, &["Meson"]),
        (&["pom.xml"], Language::Java, &["Maven", "Maven"]),
        (
            &["build.gradle.kts", "gradlew"],
            Language::Java,
            &["Gradle"],
        ),
        (&["a.c"], Language::C, &[]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let found = proposals(folder.path(), language, None).unwrap();
        let found: Vec<&str> = found
            .iter()
            .map(|proposal| proposal.system.as_str())
            .collect();
        assert_eq!(found, expected, "{files:?}");
    }
}
