//! HTTP clients for calls with a key, and what people may see of an address.

use reqwest::{Client, ClientBuilder};
use std::time::Duration;

/// Returns the start of every HTTP client: its cryptography is chosen here.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn client_builder() -> ClientBuilder {
    install_cryptography();
    Client::builder()
}

/// Returns a client with the defaults of the library.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub fn default_client() -> Client {
    install_cryptography();
    Client::new()
}

/// Makes `ring` the cryptography of TLS in this process, unless one was chosen before. Clients that
/// libraries make for themselves need it to be called first.
pub fn install_cryptography() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client for calls with a key to one address.
pub fn http_client(address: &str, connect: Duration) -> reqwest::Result<Client> {
    let builder = client_builder()
        .connect_timeout(connect)
        // A key must not follow a redirect to another host.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("patchwright/", env!("CARGO_PKG_VERSION")));
    let url = reqwest::Url::parse(address).ok();
    let host = url.as_ref().and_then(reqwest::Url::host_str);
    if matches!(host, Some("localhost" | "127.0.0.1" | "[::1]")) {
        builder.no_proxy().build()
    } else {
        builder.build()
    }
}

/// An address as people may see it: without the name and the password that it
/// may hold, and without what stands behind its `?`.
pub fn shown(address: &str) -> String {
    let read = reqwest::Url::parse(address).ok();
    // Of `me:key@host` and `hg::https://me:key@host` no part is told apart.
    let is_read = |url: &reqwest::Url| !url.cannot_be_a_base() || !address.contains(['@', '?']);
    let Some(mut url) = read.filter(is_read) else {
        return "an address that cannot be read".to_owned();
    };
    if url.username().is_empty() && url.password().is_none() && url.query().is_none() {
        return address.to_owned();
    }
    url.set_query(None);
    let bare = url.set_username("").and_then(|()| url.set_password(None));
    bare.map_or_else(|()| "an address with a key".to_owned(), |()| url.into())
}

/// Returns the innermost cause of a failed call; the layers above repeat the address.
pub fn deepest(error: &reqwest::Error) -> String {
    let mut current: &dyn std::error::Error = error;
    while let Some(source) = current.source() {
        current = source;
    }
    current.to_string()
}

/// Reads the body of an answer; what is longer than a limit is cut off behind it.
///
/// # Errors
/// The connection breaks off.
pub async fn body(mut answer: reqwest::Response, limit: usize) -> reqwest::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > limit {
            break;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn an_address_is_shown_without_what_opens_it() {
        for (address, expected) in [
            ("http://127.0.0.1:9", "http://127.0.0.1:9"),
            ("https://a.example/v1", "https://a.example/v1"),
            ("https://me:secret@a.example/v1", "https://a.example/v1"),
            (
                "https://secret@a.example:8443/v1/rerank",
                "https://a.example:8443/v1/rerank",
            ),
            ("https://a.example/v1?key=secret", "https://a.example/v1"),
            ("localhost:4000/v1", "localhost:4000/v1"),
            ("secret", "an address that cannot be read"),
            ("me:secret@a.example", "an address that cannot be read"),
            (
                "hg::https://me:secret@a.example/r",
                "an address that cannot be read",
            ),
        ] {
            assert_eq!(shown(address), expected);
        }
    }
}
