//! Archives that must be refused, archives that must not, and bytes at random.

use super::*;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::io::Write;
use std::time::{Duration, SystemTime};
use tar::{Builder, EntryType, Header};

const LIMITS: UnpackLimits = UnpackLimits {
    bytes: 1 << 20,
    entries: 50,
};

/// An entry whose names are written as they are, unchecked.
fn header(kind: EntryType, name: &str, link: &str, size: u64) -> Header {
    let mut header = Header::new_gnu();
    let fields = header.as_old_mut();
    fields.name[..name.len()].copy_from_slice(name.as_bytes());
    fields.linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o4755);
    header.set_mtime(1_000_000_000);
    header.set_cksum();
    header
}

/// Kind, name, link, content.
type Given<'a> = (EntryType, &'a str, &'a str, &'a [u8]);

fn archive(entries: &[Given]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (kind, name, link, bytes) in entries {
        builder
            .append(&header(*kind, name, link, bytes.len() as u64), *bytes)
            .unwrap();
    }
    builder.into_inner().unwrap()
}

fn tried(bytes: &[u8]) -> (Result<(), String>, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("archive");
    std::fs::write(&file, bytes).unwrap();
    let root = place.path().join("a/root");
    std::fs::create_dir_all(&root).unwrap();
    let examined = examine(&file, LIMITS).map_err(|error| error.to_string());
    let unpacked = unpack(&file, &root, LIMITS).map_err(|error| error.to_string());
    if let Err(problem) = &examined {
        assert_eq!(unpacked.as_ref().unwrap_err(), problem);
    }
    (unpacked, place)
}

use EntryType::{Block, Char, Directory, Fifo, GNUSparse, Link, Regular, Symlink};

#[test]
fn what_must_not_be_there_is_refused() {
    let refused: &[(&[Given], &str)] = &[
        (&[(Regular, "../out", "", b"x")], "a path that climbs"),
        (&[(Regular, "a/../../out", "", b"x")], "a path that climbs"),
        (&[(Regular, "/etc/out", "", b"x")], "an absolute path"),
        (&[(Directory, "../out", "", b"")], "a path that climbs"),
        (&[(Symlink, "a", "/etc", b"")], "a link that leads out"),
        (&[(Symlink, "a", "../b", b"")], "a link that leads out"),
        (&[(Symlink, "a/b", "../../c", b"")], "a link that leads out"),
        (&[(Symlink, "a", "b/../../c", b"")], "a link that leads out"),
        (&[(Symlink, "a", "", b"")], "a link to nothing"),
        (&[(Link, "a", "../b", b"")], "a path that climbs"),
        (&[(Link, "a", "/etc/passwd", b"")], "an absolute path"),
        (&[(Link, "a", "b", b"")], "does not come before it"),
        (&[(Block, "dev", "", b"")], "a device node"),
        (&[(Char, "dev", "", b"")], "a device node"),
        (&[(Fifo, "pipe", "", b"")], "a named pipe"),
        (&[(GNUSparse, "holes", "", b"")], "a file with holes"),
        (
            &[(Regular, "a", "", b"x"), (Regular, "a/b", "", b"x")],
            "both as a file",
        ),
        // Written through a link it would land elsewhere.
        (
            &[(Symlink, "a", "b", b""), (Regular, "a/c", "", b"x")],
            "both as a file",
        ),
        (
            &[(Symlink, "a", ".", b""), (Symlink, "a/b", "c", b"")],
            "below a link",
        ),
        (&[], "empty or no tar archive"),
    ];
    for (entries, problem) in refused {
        let (outcome, place) = tried(&archive(entries));
        let error = outcome.expect_err(problem);
        assert!(error.contains(problem), "{entries:?}: {error}");
        let outside = ["a/out", "out", "a/b"].map(|name| place.path().join(name));
        assert!(outside.iter().all(|path| !path.exists()), "{entries:?}");
    }
}

#[test]
fn bombs_are_stopped() {
    let zeros = vec![0; 2 << 20];
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&archive(&[(Regular, "zeros", "", &zeros)]))
        .unwrap();
    let many: Vec<String> = (0..60).map(|at| format!("file{at}")).collect();
    let many: Vec<_> = many
        .iter()
        .map(|name| (Regular, name.as_str(), "", &b""[..]))
        .collect();
    let mut long = archive(&[(
        EntryType::GNULongName,
        "././@LongLink",
        "",
        &zeros[..100_000],
    )]);
    long.truncate(100_000);
    for (bytes, problem) in [
        (gzip.finish().unwrap(), "more than 1048576 bytes"),
        (archive(&many), "more than 50 entries"),
        (long, "a name of more than 64 KiB"),
    ] {
        let error = tried(&bytes).0.expect_err(problem);
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn what_is_right_is_unpacked() {
    let long = format!("{}/{}", "folder".repeat(20), "file".repeat(20));
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut add = |kind, name: &str, link: &str, bytes: &[u8]| {
        builder
            .append(&header(kind, name, link, bytes.len() as u64), bytes)
            .unwrap();
    };
    add(
        EntryType::XGlobalHeader,
        "pax_global_header",
        "",
        b"22 comment=0123456789\n",
    );
    add(Directory, "./", "", b"");
    add(Regular, "./bin/tool", "", b"#!/bin/sh\n");
    add(Link, "bin/same", "bin/tool", b"");
    add(Symlink, "lib/link", "../bin/tool", b"");
    add(Symlink, "link", "lib", b"");
    add(Regular, "old/", "", b"");
    let mut plain = header(Regular, "x", "", 2);
    builder.append_data(&mut plain, &long, &b"ok"[..]).unwrap();
    let bytes = builder.into_inner().unwrap().finish().unwrap();
    let (outcome, place) = tried(&bytes);
    outcome.unwrap();
    let root = place.path().join("a/root");
    for path in ["bin/tool", "bin/same", "lib/link", "link/link"] {
        assert_eq!(
            std::fs::read(root.join(path)).unwrap(),
            b"#!/bin/sh\n",
            "{path}"
        );
    }
    assert_eq!(std::fs::read(root.join(&long)).unwrap(), b"ok");
    assert!(root.join("old").is_dir());
    let entries = std::fs::read_dir(&root).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let folder = "folder".repeat(20);
    assert_eq!(names, ["bin", folder.as_str(), "lib", "link", "old"]);
    let about = root.join("bin/tool").metadata().unwrap();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o7777,
        0o755
    );
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    assert_eq!(about.modified().unwrap(), time);
}

#[test]
fn other_formats_are_named() {
    for (start, words) in [
        (&b"PK\x03\x04rest"[..], "zip file"),
        (b"\xfd7zXZ\0..", "still compressed"),
        (b"BZh91AY", "still compressed"),
        (b"no archive at all", "damaged, cut off, or no tar archive"),
        (b"\x1f\x8bno gzip", "damaged"),
    ] {
        let error = tried(start).0.unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

proptest! {
    #[test]
    fn damaged_archives_never_panic_or_escape(
        flips in proptest::collection::vec((0_usize..4096, any::<u8>()), 0..12),
        cut in 0_usize..5000,
    ) {
        let mut bytes = archive(&[
            (Regular, "a/b", "", b"text"), (Symlink, "a/c", "b", b""), (Directory, "d", "", b""), (Link, "e", "a/b", b""),
        ]);
        for (at, byte) in flips {
            if let Some(place) = bytes.get_mut(at) { *place = byte; }
        }
        bytes.truncate(cut.max(1));
        let (_, place) = tried(&bytes);
        let names: Vec<_> = std::fs::read_dir(place.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        prop_assert_eq!(names.len(), 2);
        prop_assert_eq!(std::fs::read_dir(place.path().join("a")).unwrap().count(), 1);
    }
}
