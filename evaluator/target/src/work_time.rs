//! Work time: time that passes as fast as the machine lets us work.
//!
//! While other programs keep the processors busy, a search gets fewer inputs done in a second.
//! With its budget in work time it goes on for longer instead, so that a busy machine gives the
//! same verdict later and not another one. The system's count of runnable tasks tells how busy
//! it is; where there is none (`/proc/stat`), this is the clock on the wall.

use std::ops::Add;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The least work time that passes in a second, so that everything comes to an end.
const SLOWEST: f64 = 0.25;

/// A moment in work time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkTime(Duration);

impl WorkTime {
    /// Returns the moment that it is now.
    pub fn now() -> Self {
        static PASSED: Mutex<(Option<Instant>, Duration)> = Mutex::new((None, Duration::ZERO));
        let mut passed = PASSED.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, counted) = &mut *passed;
        let now = Instant::now();
        let since = before.map_or(Duration::ZERO, |before| now - before);
        *before = Some(now);
        // Too short a time is not worth the look.
        *counted += match since.as_millis() {
            0 => since,
            _ => since.mul_f64(pace()),
        };
        Self(*counted)
    }

    /// Returns the work time since this moment.
    pub fn elapsed(self) -> Duration {
        self.until(Self::now())
    }

    /// Returns the work time from this moment until a later one; none where it is over.
    pub fn until(self, later: Self) -> Duration {
        later.0.saturating_sub(self.0)
    }

    /// Returns the work time that is left until this moment.
    pub fn left(self) -> Duration {
        Self::now().until(self)
    }

    /// Returns the same as time on the wall, at the pace of now: for the limit of a command.
    pub fn left_on_the_wall(self) -> Duration {
        self.left().div_f64(pace())
    }
}

impl Add<Duration> for WorkTime {
    type Output = Self;

    fn add(self, more: Duration) -> Self {
        Self(self.0.saturating_add(more))
    }
}

/// Returns the work time that passes in a second.
fn pace() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    pace_of(&stat).unwrap_or(1.0)
}

/// Returns the share of a processor that each runnable task gets, whoever asks left out.
fn pace_of(stat: &str) -> Option<f64> {
    let is_processor = |line: &&str| {
        let number = line.strip_prefix("cpu");
        number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let processors = stat.lines().filter(is_processor).count() as f64;
    let mut lines = stat.lines();
    let running = lines.find_map(|line| line.strip_prefix("procs_running "))?;
    let running: f64 = running.trim().parse().ok()?;
    Some((processors / (running - 1.0).max(processors)).max(SLOWEST))
}

#[cfg(test)]
mod tests {
    use super::{WorkTime, pace_of};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn the_pace_is_the_share_of_a_processor() {
        for (running, expected) in [
            ("1", Some(1.0)),
            ("3", Some(1.0)),
            ("5", Some(0.5)),
            ("900", Some(0.25)),
            ("x", None),
        ] {
            let stat = format!("cpu  1 2\ncpu0 1\ncpu1 1\nintr 5\nprocs_running {running}\n");
            assert_eq!(pace_of(&stat), expected, "{running}");
        }
        assert_eq!(pace_of(""), None);
    }

    #[test]
    fn it_passes_slower_while_the_processors_are_busy() {
        let stat = std::fs::read_to_string("/proc/stat").unwrap();
        let processors = stat.matches("\ncpu").count();
        let is_over = AtomicBool::new(false);
        let (wall, work) = std::thread::scope(|scope| {
            for _ in 0..4 * processors {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let (wall, start) = (Instant::now(), WorkTime::now());
            for _ in 0..10 {
                std::thread::sleep(Duration::from_millis(20));
                WorkTime::now();
            }
            let passed = (wall.elapsed(), start.elapsed());
            is_over.store(true, Ordering::Relaxed);
            passed
        });
        assert!(work < wall * 3 / 4, "{work:?} of {wall:?}");
    }

    #[test]
    fn work_time_passes_and_is_never_faster_than_the_wall() {
        let (wall, start) = (Instant::now(), WorkTime::now());
        let end = start + Duration::from_millis(20);
        assert!(end.left_on_the_wall() >= end.left());
        while !end.left().is_zero() {
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(start.elapsed() >= Duration::from_millis(20));
        assert!(wall.elapsed() >= Duration::from_millis(20));
    }
}
