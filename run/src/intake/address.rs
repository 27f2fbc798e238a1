//! Which addresses may be asked on behalf of somebody else.
//!
//! A name must be among the allowed ones, and what it resolves to must lie in
//! the public network: not this machine, not the network around it, not the
//! services that a cloud tells its secrets by. Names that resolve inside are
//! allowed one by one.

use patchwright_config::Intake;
use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Why an address is not asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is no URL that can be fetched.
    #[error("{0:?} is no http or https address of a host")]
    Url(String),
    /// It carries a user name or password, which would end up in journals.
    #[error("an address must not carry a user name or password")]
    Credentials,
    /// The host is not among the allowed ones.
    #[error("the host {0:?} is not among those that sources may come from (intake.hosts)")]
    Host(String),
    /// The host has no address.
    #[error("the host {0:?} cannot be found")]
    Unknown(String),
    /// The host lies in a network that must not be reached.
    #[error(
        "the host {0:?} lies in a private or reserved network; only intake.private_hosts may do so"
    )]
    Private(String),
}

/// Checks an address by its text alone: scheme, host, and a literal IP.
pub fn check(url: &str, settings: &Intake) -> Result<Url, AddressError> {
    let parsed = Url::parse(url).map_err(|_| AddressError::Url(shortened(url)))?;
    check_url(&parsed, settings).map(|()| parsed)
}

/// The same for a URL that was taken apart already.
pub fn check_url(url: &Url, settings: &Intake) -> Result<(), AddressError> {
    let host = match (url.scheme(), url.host_str()) {
        ("http" | "https", Some(host)) => plain(host),
        _ => return Err(AddressError::Url(shortened(url.as_str()))),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AddressError::Credentials);
    }
    if is_private_host(&host, settings) {
        return Ok(());
    }
    if !settings.hosts.iter().any(|pattern| fits(pattern, &host)) {
        return Err(AddressError::Host(host));
    }
    match host.parse::<IpAddr>() {
        Ok(address) if !is_public(address) => Err(AddressError::Private(host)),
        _ => Ok(()),
    }
}

/// Looks a host up and keeps the addresses that may be asked.
pub async fn resolve(
    host: &str,
    port: u16,
    settings: &Intake,
) -> Result<Vec<SocketAddr>, AddressError> {
    let host = plain(host);
    let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), port))
        .await
        .map_err(|_| AddressError::Unknown(host.clone()))?
        .collect();
    if is_private_host(&host, settings) {
        return Ok(found);
    }
    // One bad address spoils the name: who mixes them is up to something.
    match found.iter().all(|address| is_public(address.ip())) {
        _ if found.is_empty() => Err(AddressError::Unknown(host)),
        true => Ok(found),
        false => Err(AddressError::Private(host)),
    }
}

/// A host without the brackets of IPv6 and the dot of a full name.
fn plain(host: &str) -> String {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn is_private_host(host: &str, settings: &Intake) -> bool {
    let mut hosts = settings.private_hosts.iter();
    hosts.any(|pattern| fits(pattern, host))
}

/// `*` is every host, `*.example.org` every host below that name.
fn fits(pattern: &str, host: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    match pattern.strip_prefix('*') {
        Some("") => true,
        Some(tail) => host.ends_with(tail) && host.len() > tail.len(),
        None => plain(&pattern) == host,
    }
}

/// Tells whether an address belongs to somebody in the public network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The registry of special addresses (RFC 6890), and the one through which
/// Azure talks to its machines.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = match a {
        0 | 10 | 127 | 224..=255 => true,
        100 => (64..=127).contains(&b),
        169 => b == 254,
        172 => (16..=31).contains(&b),
        192 => matches!((b, c), (0, 0 | 2) | (88, 99) | (168, _)),
        198 => matches!((b, c), (18 | 19, _) | (51, 100)),
        203 => (b, c) == (0, 113),
        _ => false,
    };
    !special && address != Ipv4Addr::new(168, 63, 129, 16)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // Addresses of the old kind in new clothes: mapped, translated, tunnelled.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, benchmarks, documentation.
        [0x2001, 0 | 2 | 0xdb8, ..] | [0x3fff, ..] => false,
        // Everything that is handed out lies here; the rest is special.
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_config::Settings;
    use proptest::prelude::*;

    fn intake() -> Intake {
        let mut intake = Settings::with(&[]).unwrap().intake;
        intake.hosts = vec!["github.com".into(), "*.example.org".into()];
        intake.private_hosts = vec!["git.corp".into()];
        intake
    }

    #[test]
    fn hosts_are_allowed_by_name() {
        let all = Intake {
            hosts: vec!["*".into()],
            ..intake()
        };
        for (url, expected) in [
            ("https://github.com/a/b", "ok"),
            ("https://GitHub.com./a/b", "ok"),
            ("http://a.example.org/x.tar.gz", "ok"),
            ("http://git.corp:8080/x", "ok"),
            ("https://example.org/", "not among"),
            ("https://evilgithub.com/", "not among"),
            ("https://github.com.evil.net/", "not among"),
            ("https://me:secret@github.com/a", "user name"),
            ("ftp://github.com/a", "no http or https"),
            ("file:///etc/passwd", "no http or https"),
            ("../up", "no http or https"),
            ("ssh://git@github.com/a", "no http or https"),
        ] {
            check_one(url, &intake(), expected);
        }
        for (url, expected) in [
            ("http://169.254.169.254/latest/meta-data", "private"),
            ("http://127.0.0.1/", "private"),
            ("http://2130706433/", "private"),
            ("http://0x7f.1/", "private"),
            ("http://[::1]/", "private"),
            ("http://[::ffff:10.0.0.1]/", "private"),
            ("http://[fd00:ec2::254]/", "private"),
            ("http://8.8.8.8/", "ok"),
            ("https://anything.net/", "ok"),
        ] {
            check_one(url, &all, expected);
        }
    }

    fn check_one(url: &str, settings: &Intake, expected: &str) {
        match check(url, settings) {
            Ok(_) => assert_eq!(expected, "ok", "{url}"),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(expected), "{url}: {text}");
                assert!(!text.contains("secret"), "{text}");
            }
        }
    }

    #[tokio::test]
    async fn names_that_resolve_inside_are_refused() {
        let all = Intake {
            hosts: vec!["*".into()],
            ..intake()
        };
        let refused = resolve("localhost", 80, &all).await.unwrap_err();
        assert_eq!(refused, AddressError::Private("localhost".into()));
        let allowed = Intake {
            private_hosts: vec!["localhost".into()],
            ..intake()
        };
        assert!(!resolve("localhost", 80, &allowed).await.unwrap().is_empty());
    }

    #[test]
    fn special_networks_are_known() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.100.100.200",
            "127.9.9.9",
            "168.63.129.16",
            "169.254.169.254",
            "172.31.0.1",
            "192.0.0.1",
            "192.168.1.1",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "64:ff9b::a00:1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "1.1.1.1",
            "140.82.121.3",
            "172.32.0.1",
            "2606:4700::1111",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(url in "\\PC{0,60}") {
            let _ = check(&url, &intake());
        }

        #[test]
        fn a_mapped_address_is_judged_as_what_it_stands_for(bits in any::<u32>()) {
            let old = Ipv4Addr::from(bits);
            prop_assert_eq!(is_public(old.into()), is_public(old.to_ipv6_mapped().into()));
        }
    }
}
