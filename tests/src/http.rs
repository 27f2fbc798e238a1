//! Small HTTP client for tests that must send what no good client would:
//! truncated bodies, wrong lengths, paths without normalisation.
//!
//! One connection a request, unless it is [`Kept`]. It follows nothing and
//! retries nothing.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer that takes longer hangs. No test measures time by it.
const PATIENCE: Duration = Duration::from_mins(2);

/// A request as it is written.
#[derive(Debug, Clone, Default)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// A request without a body.
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            ..Self::default()
        }
    }

    /// Asks for a path.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a body of this type.
    #[must_use]
    pub fn body(mut self, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.with("content-type", kind)
    }

    /// Adds the parts of an upload: name and content.
    #[must_use]
    pub fn upload(self, parts: &[(&str, &[u8])]) -> Self {
        const BOUNDARY: &str = "between-the-parts-of-a-test";
        let mut body = Vec::new();
        for (name, content) in parts {
            let head = format!(
                "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"file\"\r\n\r\n"
            );
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        self.body(&format!("multipart/form-data; boundary={BOUNDARY}"), body)
    }

    /// Sends it and reads the whole answer.
    ///
    /// # Errors
    /// When there is none that can be read.
    pub fn send(&self, to: SocketAddr) -> io::Result<Answer> {
        let mut stream = self.begin(to)?;
        // Whoever refuses a large body does not wait for its end.
        let _ = stream.write_all(&self.body);
        Answer::read(&mut BufReader::new(stream))
    }

    /// Sends all but the body.
    ///
    /// # Errors
    /// When nobody listens.
    pub fn begin(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let mut stream = connect(to)?;
        stream.write_all(self.head(to, "close").as_bytes())?;
        Ok(stream)
    }

    /// The first line and the headers.
    fn head(&self, to: SocketAddr, connection: &str) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        let has = |name: &str| {
            self.headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        if !has("host") {
            let _ = write!(head, "host: localhost:{}\r\n", to.port());
        }
        if !has("content-length") && !has("transfer-encoding") {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "connection: {connection}\r\n\r\n");
        head
    }
}

/// A connection that is kept from one request to the next.
#[derive(Debug)]
pub struct Kept {
    stream: BufReader<TcpStream>,
    to: SocketAddr,
}

impl Kept {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens.
    pub fn open(to: SocketAddr) -> io::Result<Self> {
        let stream = BufReader::new(connect(to)?);
        Ok(Self { stream, to })
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// When there is none that can be read.
    pub fn ask(&mut self, request: &Request) -> io::Result<Answer> {
        let mut whole = request.head(self.to, "keep-alive").into_bytes();
        whole.extend_from_slice(&request.body);
        self.stream.get_mut().write_all(&whole)?;
        Answer::read(&mut self.stream)
    }
}

fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

impl Answer {
    /// Reads an answer to its end.
    ///
    /// # Errors
    /// When it breaks off or is no HTTP.
    pub fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut answer = Self::head(from)?;
        if answer.header("transfer-encoding").is_some() {
            while let Some(chunk) = chunk(from)? {
                answer.body.extend_from_slice(&chunk);
            }
        } else if let Some(length) = answer.header("content-length") {
            let length = length.parse().map_err(|_| broken("a length"))?;
            answer.body = vec![0; length];
            from.read_exact(&mut answer.body)?;
        } else {
            from.read_to_end(&mut answer.body)?;
        }
        Ok(answer)
    }

    /// Reads status and headers.
    ///
    /// # Errors
    /// When they break off or are no HTTP.
    pub fn head(from: &mut impl BufRead) -> io::Result<Self> {
        let status = line(from)?;
        let status = status.split(' ').nth(1).and_then(|text| text.parse().ok());
        Ok(Self {
            status: status.ok_or_else(|| broken("a status"))?,
            ..Self::headers(from)?
        })
    }

    /// Reads the first line and the headers of a request that somebody sent.
    ///
    /// # Errors
    /// When they break off or are no HTTP.
    pub fn headers_of_request(from: &mut impl BufRead) -> io::Result<Self> {
        line(from)?;
        Self::headers(from)
    }

    fn headers(from: &mut impl BufRead) -> io::Result<Self> {
        let mut headers = Vec::new();
        loop {
            let line = line(from)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| broken("a header"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Self {
            status: 0,
            headers,
            body: Vec::new(),
        })
    }

    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; `null` when it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The next piece of a chunked body; `None` at its end.
///
/// # Errors
/// When it breaks off.
pub fn chunk(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let size = line(from)?;
    let size = usize::from_str_radix(size.trim(), 16).map_err(|_| broken("the size of a chunk"))?;
    let mut bytes = vec![0; size];
    from.read_exact(&mut bytes)?;
    line(from)?;
    Ok((size > 0).then_some(bytes))
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what} cannot be read"))
}
