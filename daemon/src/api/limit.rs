//! Rate limits: requests of a caller at once and in a second.
//!
//! A request over a limit is refused at once and not kept waiting.

use super::Api;
use super::extract::{media_type, too_large};
use super::problem::{Kind, Problem};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::Next;
use axum::response::Response;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Callers that are remembered; more than that, and those are forgotten that
/// have their full rate again.
const CALLERS: usize = 10_000;
/// The media type of an upload.
pub(crate) const UPLOAD: &str = "multipart/form-data";

/// Refuses what is too large or too much, and ends what takes too long.
pub(crate) async fn apply(
    State(api): State<Api>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let http = &api.settings.http;
    let uploads = media_type(request.headers()) == UPLOAD;
    let (limit, time) = if uploads {
        (api.upload_limit(), http.upload_timeout)
    } else {
        (api.json_limit(), http.timeout)
    };
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > limit as u64) {
        return Err(too_large(limit));
    }
    let busy = "as many requests are being answered as are allowed (http.requests)";
    let _place = free(&api.requests, busy)?;
    let answered = tokio::time::timeout(time, next.run(request)).await;
    answered.map_err(|_| {
        let detail = format!("it was given up after {} seconds", time.as_secs());
        Problem::new(Kind::Slow, detail)
    })
}

/// Takes a free place, which is given back when it is dropped.
pub(super) fn free(places: &Arc<Semaphore>, busy: &str) -> Result<OwnedSemaphorePermit, Problem> {
    let place = places.clone().try_acquire_owned();
    place.map_err(|_| Problem::new(Kind::Busy, busy))
}

/// A bucket for the requests of a second of every caller, filled up again as time goes by.
#[derive(Debug)]
pub(crate) struct Rate {
    per_second: u32,
    /// The time at which each is full again.
    buckets: Mutex<HashMap<String, Instant>>,
}

impl Rate {
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            per_second,
            buckets: Mutex::default(),
        }
    }

    /// Takes one request from a caller's bucket.
    pub(crate) fn take(&self, caller: &str) -> Result<(), Problem> {
        self.take_at(caller, Instant::now())
    }

    fn take_at(&self, caller: &str, now: Instant) -> Result<(), Problem> {
        let refused = || {
            let detail = format!("at most {} requests a second (http.rate)", self.per_second);
            Problem::new(Kind::TooMany, detail)
        };
        let mut buckets = self.buckets.lock().map_err(|_| refused())?;
        if buckets.len() >= CALLERS && !buckets.contains_key(caller) {
            buckets.retain(|_, full| *full > now);
        }
        let full = buckets.get(caller).map_or(now, |full| now.max(*full));
        let second = Duration::from_secs(1);
        let full = full + second / self.per_second;
        if full > now + second {
            return Err(refused());
        }
        buckets.insert(caller.to_owned(), full);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_holds_for_each_caller() {
        let rate = Rate::new(3);
        let start = Instant::now();
        let takes = |caller, at: u64| {
            rate.take_at(caller, start + Duration::from_millis(at))
                .is_ok()
        };
        assert_eq!(
            [0, 0, 0, 0].map(|at| takes("a", at)),
            [true, true, true, false]
        );
        assert!(takes("b", 0));
        assert_eq!(
            [334, 335, 700].map(|at| takes("a", at)),
            [true, false, true]
        );
        assert_eq!(
            [9000, 9000, 9000, 9000].map(|at| takes("a", at)),
            [true, true, true, false]
        );
    }

    #[test]
    fn callers_that_went_away_are_forgotten() {
        let rate = Rate::new(1);
        let start = Instant::now();
        for number in 0..CALLERS {
            rate.take_at(&number.to_string(), start).unwrap();
        }
        rate.take_at("one more", start + Duration::from_secs(5))
            .unwrap();
        assert_eq!(rate.buckets.lock().unwrap().len(), 1);
    }
}
