//! From the settings of the program to those of the library, and from a
//! crash report to the frames that it takes.

use crate::drive::frame_for_retrieval;
use crate::settings::Retrieval;
use patchwright_evaluator::crash::CrashReport;
use patchwright_retrieval::{Frame, Settings, Weights};

/// The frames of a crash report, as a run reads them too.
pub fn frames_of(report: &CrashReport) -> Vec<Frame> {
    let frames = crate::drive::frames_of(report);
    frames.iter().map(frame_for_retrieval).collect()
}

/// The library's settings from those of the program.
pub fn engine_settings(retrieval: &Retrieval) -> Settings {
    let weights = &retrieval.weights;
    Settings {
        max_results: retrieval.max_results,
        context_lines: retrieval.context_lines,
        body_lines: retrieval.body_lines,
        file_size_limit: retrieval.file_size_limit,
        weights: Weights {
            semantic: weights.semantic,
            keyword: weights.keyword,
            in_degree: weights.in_degree,
            recency: weights.recency,
            popularity: weights.popularity,
        },
        ..Settings::default()
    }
}
