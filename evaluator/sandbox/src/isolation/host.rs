//! Readable part of the host: programs and their libraries, no homes, no secrets.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where programs are looked for when nobody says otherwise.
pub(super) const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The folder of the system's configuration.
pub(super) const ETC: &str = "/etc";

/// System folders that are shown whole, read-only.
pub(super) const SYSTEM: &[&str] = &["/usr", "/opt", "/nix/store", "/gnu/store"];

/// Top-level names that are links into `/usr` on a merged system, folders elsewhere.
pub(super) const MERGED: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Files that compilers, JDKs, shells and the resolver read below `/etc`. All else
/// there (shadow files, keys, credentials of services) is not shown.
const CONFIGURATION: &str = include_str!("configuration.txt");

/// The folder of these that holds hundreds of links, and nothing else: it is mounted, since to
/// copy each of them takes time.
pub(super) const LINKS: &str = "/etc/alternatives";

/// Files that a command with network reads besides: where packages come from.
const NETWORK_CONFIGURATION: &[&str] = &["pip.conf"];

/// Part of the host that commands may see and use. Nothing else of it is visible in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The folders of `PATH`, in order.
    pub path: Vec<PathBuf>,
    /// Folders that may be read besides the system's own: toolchains below a home, say.
    pub readable: Vec<PathBuf>,
    /// Variables of every command, such as `RUSTUP_HOME` or `JAVA_HOME`; no secrets.
    pub variables: BTreeMap<String, String>,
    /// Variables of the commands that have network: proxies, places of certificates.
    pub network_variables: BTreeMap<String, String>,
    /// The program that calls [`super::enter_from_arguments`]; every command runs below it.
    pub helper: PathBuf,
    /// The socket of the container engine; the first usual one that is there by default.
    pub engine: Option<PathBuf>,
}

impl Host {
    /// A host of which only the system's own programs are seen.
    pub fn new(helper: PathBuf) -> Self {
        Self {
            path: USUAL_PATH.split(':').map(PathBuf::from).collect(),
            readable: Vec::new(),
            variables: BTreeMap::new(),
            network_variables: BTreeMap::new(),
            helper,
            engine: None,
        }
    }

    /// Keeps of a `PATH` what exists, and makes readable what its programs
    /// need when they live below a home: the folder itself, the toolchains of
    /// rustup, the versions of a shim. The homes stay hidden.
    pub fn from_path(helper: PathBuf, path: &str, home: Option<&Path>) -> Self {
        let mut host = Self::new(helper);
        let given = path.split(':').map(PathBuf::from);
        let given = given.filter(|folder| folder.is_absolute() && folder.is_dir());
        for folder in given.chain(std::mem::take(&mut host.path)) {
            if !host.path.contains(&folder) {
                host.path.push(folder);
            }
        }
        for folder in host.path.clone() {
            if !is_system(&folder) {
                host.show(&folder, home);
            }
        }
        host.readable.sort();
        host.readable.dedup();
        let mut compilers = host.path.iter().map(|folder| folder.join("javac"));
        let compiler = compilers.find_map(|path| path.canonicalize().ok());
        if let Some(jdk) = compiler.as_deref().and_then(|path| path.ancestors().nth(2)) {
            let jdk = jdk.display().to_string();
            host.variables.insert("JAVA_HOME".to_owned(), jdk);
        }
        host
    }

    fn show(&mut self, folder: &Path, home: Option<&Path>) {
        if folder.ends_with("shims") {
            // The programs behind shims lie beside them: `.pyenv/versions`.
            self.readable
                .push(folder.parent().unwrap_or(folder).to_path_buf());
            return;
        }
        self.readable.push(folder.to_path_buf());
        if folder.join("rustup").exists()
            && let Some(toolchains) = home.map(|home| home.join(".rustup"))
            && toolchains.is_dir()
        {
            let text = toolchains.display().to_string();
            self.variables
                .entry("RUSTUP_HOME".to_owned())
                .or_insert(text);
            self.readable.push(toolchains);
        }
        if folder.ends_with("go/bin") || folder.join("javac").exists() {
            self.readable
                .push(folder.parent().unwrap_or(folder).to_path_buf());
        }
    }

    /// Returns the environment of every command before its own variables.
    pub(super) fn environment(&self, network: bool) -> BTreeMap<String, OsString> {
        let mut environment: BTreeMap<String, OsString> = BTreeMap::new();
        let path = std::env::join_paths(&self.path).unwrap_or_default();
        environment.insert("PATH".to_owned(), path);
        environment.insert("LANG".to_owned(), "C.UTF-8".into());
        let extra = network.then_some(&self.network_variables);
        for (name, value) in extra.into_iter().flatten().chain(&self.variables) {
            environment.insert(name.clone(), value.into());
        }
        environment
    }

    /// Returns the paths that a sandbox with a root of its own shows read-only, each at its
    /// own place.
    pub(super) fn shown(&self, network: bool) -> Vec<PathBuf> {
        let system = SYSTEM.iter().map(PathBuf::from);
        let system = system.filter(|path| path.is_dir());
        let merged = MERGED.iter().map(PathBuf::from);
        let real = merged.filter(|name| name.is_dir() && !name.is_symlink());
        let whole = system.chain(real).chain(Self::configuration(network));
        whole.chain(self.toolchains().cloned()).collect()
    }

    /// The top-level links into the system's folders: where to, and their names.
    pub(super) fn links() -> Vec<(PathBuf, &'static Path)> {
        let names = MERGED.iter().map(Path::new);
        names
            .filter_map(|name| Some((std::fs::read_link(name).ok()?, name)))
            .collect()
    }

    /// The files and folders below `/etc` that exist here and may be read.
    pub(super) fn configuration(network: bool) -> Vec<PathBuf> {
        let fixed = CONFIGURATION.lines().map(|name| Path::new(ETC).join(name));
        let found = fixed.chain(java_configuration());
        let mut found: Vec<PathBuf> = found.filter(|path| path.exists()).collect();
        if network {
            found.extend(Self::network_configuration());
        }
        found.sort();
        found
    }

    /// Those that only a command with network may read besides.
    pub(super) fn network_configuration() -> Vec<PathBuf> {
        let names = NETWORK_CONFIGURATION.iter();
        names
            .map(|name| Path::new(ETC).join(name))
            .filter(|path| path.exists())
            .collect()
    }

    /// The readable folders that are not already part of the system's own.
    pub(super) fn toolchains(&self) -> impl Iterator<Item = &PathBuf> {
        let covered = |folder: &Path| {
            let above = folder.ancestors().skip(1);
            { above }.any(|above| self.readable.iter().any(|other| other == above))
        };
        let own = self.readable.iter().filter(|folder| !is_system(folder));
        own.filter(move |folder| !covered(folder) && folder.exists())
    }
}

fn is_system(folder: &Path) -> bool {
    let mut system = SYSTEM.iter().chain(MERGED);
    system.any(|system| folder.starts_with(system))
}

/// Debian keeps the settings of each JDK in a folder of its own.
fn java_configuration() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(ETC).into_iter().flatten().flatten();
    let of_java = |name: OsString| name.as_encoded_bytes().starts_with(b"java");
    let folders = entries.filter(|entry| of_java(entry.file_name()));
    folders.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::Host;
    use std::path::PathBuf;

    #[test]
    fn shows_toolchains_below_a_home_and_not_the_home() {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join(".cargo/bin");
        for folder in [
            &bin,
            &home.path().join(".rustup/toolchains"),
            &home.path().join(".py/shims"),
        ] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(bin.join("rustup"), "").unwrap();
        let path = format!(
            "{}:{}/.py/shims:/usr/bin:relative:/no/such/folder",
            bin.display(),
            home.path().display()
        );
        let host = Host::from_path("/helper".into(), &path, Some(home.path()));
        let expected: Vec<PathBuf> = [".cargo/bin", ".py", ".rustup"]
            .map(|name| home.path().join(name))
            .into();
        assert_eq!(host.readable, expected);
        assert!(host.variables["RUSTUP_HOME"].ends_with(".rustup"));
        assert!(
            !host
                .path
                .iter()
                .any(|p| p.is_relative() || p.starts_with("/no"))
        );
        assert!(host.path.contains(&PathBuf::from("/bin")));
    }

    #[test]
    fn plugins_of_builds_find_the_jdk_of_the_path() {
        let place = tempfile::tempdir().unwrap();
        let jdk = place.path().canonicalize().unwrap().join("jdk");
        let links = place.path().join("links");
        for folder in [&jdk.join("bin"), &links] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(jdk.join("bin/javac"), "").unwrap();
        std::os::unix::fs::symlink(jdk.join("bin/javac"), links.join("javac")).unwrap();
        let path = format!("{}:/usr/bin", links.display());
        let host = Host::from_path("/helper".into(), &path, None);
        assert_eq!(host.variables["JAVA_HOME"], jdk.display().to_string());
    }
}
