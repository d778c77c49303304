//! Something that is done again and again by a thread of its own, whatever the rest of the process waits for.
//!
//! What must stay true: the thread takes no signals, and has ended when its [`Pulse`] is gone.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The thread; it ends when this is dropped.
#[derive(Debug)]
pub struct Pulse {
    stops: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    /// Calls `beat` at once, and again each time that `every` has passed.
    ///
    /// # Errors
    /// When no thread can be made.
    pub fn start(every: Duration, mut beat: impl FnMut() + Send + 'static) -> io::Result<Self> {
        let stops = Arc::new((Mutex::new(false), Condvar::new()));
        let its = stops.clone();
        let run = move || {
            // Held during a beat, so that none outlives the owner, who needs it to say that it is over.
            let mut stopped = its.0.lock().unwrap_or_else(PoisonError::into_inner);
            while !*stopped {
                beat();
                stopped = its.1.wait_timeout(stopped, every).unwrap_or_else(PoisonError::into_inner).0;
            }
        };
        let thread = without_signals(|| Builder::new().name("posthaste-pulse".to_owned()).spawn(run))?;
        Ok(Self { stops, thread: Some(thread) })
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        *self.stops.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stops.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Does something with all signals blocked; threads and processes that are made there have them so, too.
pub(crate) fn without_signals<T>(act: impl FnOnce() -> T) -> T {
    // SAFETY: plain system calls on values of this frame, which are as long as the system wants.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        let done = act();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Instant;

    #[test]
    fn it_beats_while_its_owner_waits_and_ends_with_it() {
        let count = Arc::new(AtomicU32::new(0));
        let its = count.clone();
        let beat = move || _ = its.fetch_add(1, Ordering::Relaxed);
        let pulse = Pulse::start(Duration::from_millis(1), beat).unwrap();
        let begin = Instant::now();
        while count.load(Ordering::Relaxed) < 5 {
            assert!(begin.elapsed() < Duration::from_secs(20), "it does not beat");
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(pulse);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
