//! Facts about an exchange beside its answer: an error that the layers
//! between lose, what may have to be paid, what went over the wire.

use crate::ModelError;
use crate::openai::wire::Tape;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Facts about an exchange that must be known although the layers between here and the
/// caller lose it, or the caller stops waiting.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot(Arc<Exchange>);

#[derive(Debug, Default)]
struct Exchange {
    /// Error of reading the body.
    error: Mutex<Option<ModelError>>,
    /// The endpoint was not reached, or refused: nobody charges for that.
    free: AtomicBool,
    /// The first byte of a reply has come.
    begun: AtomicBool,
    /// Bytes of text so far.
    text: AtomicUsize,
    /// The bytes that went over the wire, if that is wanted.
    tape: Option<Mutex<Tape>>,
}

impl Slot {
    /// A slot that keeps what goes over the wire.
    pub(crate) fn recording() -> Self {
        Self(Arc::new(Exchange {
            tape: Some(Mutex::default()),
            ..Exchange::default()
        }))
    }

    /// Returns what went over the wire.
    pub(crate) fn tape(&self) -> Option<Tape> {
        let tape = self.0.tape.as_ref()?;
        Some(tape.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    pub(super) fn record(&self, write: impl FnOnce(&mut Tape)) {
        if let Some(tape) = &self.0.tape {
            write(&mut tape.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    pub(super) fn put(&self, error: ModelError) {
        let mut inner = self.0.error.lock().unwrap_or_else(PoisonError::into_inner);
        inner.get_or_insert(error);
    }

    /// Takes the error that was put in, if any.
    pub(crate) fn take(&self) -> Option<ModelError> {
        let mut inner = self.0.error.lock().unwrap_or_else(PoisonError::into_inner);
        inner.take()
    }

    pub(super) fn cost_nothing(&self) {
        self.0.free.store(true, Ordering::Relaxed);
    }

    /// The first byte of a reply has come.
    pub(super) fn begin(&self) {
        self.0.begun.store(true, Ordering::Relaxed);
    }

    /// Returns the bytes of text that have been taken.
    pub(crate) fn note_text(&self, bytes: usize) {
        self.0.text.store(bytes, Ordering::Relaxed);
    }

    /// The bytes of text that may have to be paid, if anything has; and whether
    /// they are known, because the reply had begun.
    pub(crate) fn charged(&self) -> Option<(usize, bool)> {
        let free = self.0.free.load(Ordering::Relaxed);
        let text = self.0.text.load(Ordering::Relaxed);
        (!free).then(|| (text, self.0.begun.load(Ordering::Relaxed)))
    }
}
