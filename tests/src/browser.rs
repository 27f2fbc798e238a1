//! A real browser: Debian's Chromium, driven over the WebDriver protocol.
//!
//! It has a profile of its own and ends with the test. Where the browser or its
//! driver is missing, [`Browser::start`] says which.

use crate::http::Request;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The words in front of the port in the driver's first message.
const STARTED: &str = "started successfully on port ";
/// Longest wait for a page; whatever takes longer does not come. No test measures time by it.
const PATIENCE: Duration = Duration::from_mins(2);
const GLANCE: Duration = Duration::from_millis(50);

/// A browser with one window.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
    /// Deleted with it.
    profile: TempDir,
}

impl Browser {
    /// Starts a browser without a window.
    ///
    /// # Errors
    /// When the browser or its driver is missing or does not start.
    pub fn start() -> io::Result<Self> {
        let profile = TempDir::with_prefix("patchwright-browser-")?;
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("chromedriver: {error}")))?;
        let port = port(&mut driver);
        let mut browser = Self {
            driver,
            address: SocketAddr::from(([127, 0, 0, 1], port?)),
            session: String::new(),
            profile,
        };
        let folder = browser.profile.path().display().to_string();
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            &format!("--user-data-dir={folder}"),
        ];
        let options = json!({"args": arguments});
        let wanted =
            json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let wanted = json!({"capabilities": {"alwaysMatch": wanted}});
        let session = browser.call("POST", "/session", &wanted)?;
        let id = session
            .get("sessionId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        browser.session = format!("/session/{id}");
        Ok(browser)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> io::Result<Value> {
        let path = format!("{}{path}", self.session);
        let request = match method {
            "GET" | "DELETE" => Request::new(method, &path),
            _ => Request::new(method, &path).body("application/json", body.to_string()),
        };
        let answer = request.send(self.address)?;
        let value = answer.json().get("value").cloned().unwrap_or_default();
        if answer.status == 200 {
            return Ok(value);
        }
        Err(io::Error::other(format!("{method} {path}: {value}")))
    }

    /// Opens an address.
    ///
    /// # Errors
    /// When the browser cannot.
    pub fn open(&self, address: &str) -> io::Result<()> {
        self.call("POST", "/url", &json!({"url": address}))
            .map(|_| ())
    }

    /// Runs a script and returns its value. It runs beside the page, whatever the page
    /// allows its own scripts.
    ///
    /// # Errors
    /// When the script fails.
    pub fn run(&self, script: &str) -> io::Result<Value> {
        self.call(
            "POST",
            "/execute/sync",
            &json!({"script": script, "args": []}),
        )
    }

    /// Waits until a script returns true.
    ///
    /// # Errors
    /// When it does not; the error holds the text of the page.
    pub fn wait(&self, script: &str) -> io::Result<()> {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            // A page that is being left answers with an error.
            if self.run(script).is_ok_and(|value| value == true) {
                return Ok(());
            }
            thread::sleep(GLANCE);
        }
        let shown = self.run("return location.href + '\\n' + document.body.innerText")?;
        let shown = shown.as_str().unwrap_or_default();
        Err(io::Error::other(format!("never true: {script}\n{shown}")))
    }

    /// Waits for an element and returns its text.
    ///
    /// # Errors
    /// When it does not come.
    pub fn text(&self, css: &str) -> io::Result<String> {
        let found = format!("document.querySelector({})", json!(css));
        self.wait(&format!("return {found} !== null"))?;
        let text = self.run(&format!("return {found}.innerText"))?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Clicks an element as a user does: it must be there and not covered.
    ///
    /// # Errors
    /// When it is not.
    pub fn click(&self, css: &str) -> io::Result<()> {
        let element = self.find(css)?;
        self.call("POST", &format!("/element/{element}/click"), &json!({}))
            .map(|_| ())
    }

    /// Types into an element.
    ///
    /// # Errors
    /// When it takes no keys.
    pub fn fill(&self, css: &str, text: &str) -> io::Result<()> {
        let element = self.find(css)?;
        self.call(
            "POST",
            &format!("/element/{element}/value"),
            &json!({"text": text}),
        )
        .map(|_| ())
    }

    fn find(&self, css: &str) -> io::Result<String> {
        self.text(css)?;
        let query = json!({"using": "css selector", "value": css});
        let found = self.call("POST", "/element", &query)?;
        let id = found.as_object().and_then(|found| found.values().next());
        Ok(id.and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    /// Presses keys, one after the other, whatever has the focus.
    ///
    /// # Errors
    /// When the browser takes none.
    pub fn press(&self, keys: &[&str]) -> io::Result<()> {
        let strokes = keys.iter().flat_map(|key| {
            [
                json!({"type": "keyDown", "value": key}),
                json!({"type": "keyUp", "value": key}),
            ]
        });
        let strokes: Vec<Value> = strokes.collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": strokes});
        self.call("POST", "/actions", &json!({"actions": [keyboard]}))
            .map(|_| ())
    }

    /// Sends a command of Chromium's own protocol.
    ///
    /// # Errors
    /// When it is refused.
    pub fn command(&self, name: &str, parameters: &Value) -> io::Result<Value> {
        let command = json!({"cmd": name, "params": parameters});
        self.call("POST", "/goog/cdp/execute", &command)
    }

    /// Sets the size of the page and the theme that it is asked for.
    ///
    /// # Errors
    /// When the browser refuses.
    pub fn look(&self, (width, height): (u32, u32), theme: &str) -> io::Result<()> {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", &size)?;
        let theme = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        self.command("Emulation.setEmulatedMedia", &theme)
            .map(|_| ())
    }

    /// Takes a picture of what is seen, as base64 of a PNG.
    ///
    /// # Errors
    /// When there is none.
    pub fn picture(&self) -> io::Result<String> {
        let picture = self.call("GET", "/screenshot", &Value::Null)?;
        Ok(picture.as_str().unwrap_or_default().to_owned())
    }

    /// Returns the messages of the console since the last call.
    ///
    /// # Errors
    /// When the browser tells none.
    pub fn console(&self) -> io::Result<Vec<String>> {
        let log = self.call("POST", "/se/log", &json!({"type": "browser"}))?;
        let lines = log.as_array().into_iter().flatten();
        Ok(lines
            .map(|line| line.get("message").unwrap_or(line).to_string())
            .collect())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.call("DELETE", "", &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn port(driver: &mut Child) -> io::Result<u16> {
    let output = driver
        .stdout
        .take()
        .ok_or_else(|| io::Error::other("no output"))?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        if let Some((_, port)) = line.split_once(STARTED) {
            let port = port.trim().trim_end_matches('.').parse();
            return port.map_err(|_| io::Error::other(line));
        }
    }
    let _ = driver.kill();
    Err(io::Error::other("chromedriver did not start"))
}
