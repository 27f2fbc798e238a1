//! The property tests for ten minutes and 20,000 disturbed edits: `cargo test
//! --release -p patchwright-patcher --features soak --test soak`.

#[cfg(test)]
#[path = "it/properties/checks.rs"]
mod checks;
#[cfg(test)]
#[path = "it/perturbed.rs"]
mod perturbed;
#[cfg(test)]
#[path = "it/raw_diffs.rs"]
mod raw_diffs;

#[cfg(test)]
mod soak {
    use crate::checks::{
        arbitrary_file, check_copied, check_rewritten, check_soup, check_twice, copied, rewrite,
        soup, twice,
    };
    use crate::perturbed::check_draw;
    use proptest::test_runner::{Config, TestRunner};
    use std::time::{Duration, Instant, SystemTime};

    /// Disturbed edits that are placed.
    const DISTURBED: usize = 20_000;

    #[test]
    fn disturbed_edits_of_all_files_land_where_they_belong_or_nowhere() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seed = now.unwrap().as_secs();
        println!("seed {seed}");
        check_draw(seed, DISTURBED, usize::MAX);
    }

    /// Cases between two looks at the clock.
    const CASES: u32 = 2_000;

    /// Duration of the test.
    const TIME: Duration = Duration::from_mins(10);

    #[test]
    fn ten_minutes_without_a_failure() {
        let started = Instant::now();
        let mut rounds = 0_u64;
        while started.elapsed() < TIME {
            let mut runner = TestRunner::new(Config {
                cases: CASES,
                failure_persistence: None,
                ..Config::default()
            });
            let read = runner.run(&soup(), |text| {
                check_soup(&text, false);
                Ok(())
            });
            let rewritten = runner.run(&(arbitrary_file(), rewrite()), |(file, edits)| {
                check_rewritten(&file, &edits);
                Ok(())
            });
            let placed = runner.run(&copied(), |case| {
                check_copied(&case);
                Ok(())
            });
            let refused = runner.run(&twice(), |case| {
                check_twice(&case);
                Ok(())
            });
            for result in [
                read.map_err(|error| error.to_string()),
                rewritten.map_err(|error| error.to_string()),
                placed.map_err(|error| error.to_string()),
                refused.map_err(|error| error.to_string()),
            ] {
                result.unwrap();
            }
            rounds += 1;
        }
        println!("{} cases, none failed", rounds * 4 * u64::from(CASES));
    }
}
