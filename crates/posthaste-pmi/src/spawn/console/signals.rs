//! Signals that the user sends to us.
//!
//! What must stay true: the ranks are signalled before we stop ourselves.

use super::Console;
use crate::spawn::ending::How;
use crate::spawn::output::Sink;
use crate::spawn::talk::Order;
use crate::spawn::verdict::Cause;
use nix::sys::signal::{Signal, raise};
use std::time::{Duration, Instant};

/// A second interrupt kills, but not when it comes with the first (a shell and a terminal both sending it).
const SECOND_INTERRUPT: Duration = Duration::from_millis(50);
/// How long after a signal of the user failures count as its consequence.
pub(crate) const WINDOW: Duration = Duration::from_secs(10);

/// How long ranks may go on after they were asked to end (SIGTERM): who asks so does not ask twice.
const GRACE: Duration = Duration::from_secs(30);

impl Console<'_> {
    pub(super) fn user_signal(&mut self, signal: Signal) {
        let now = Instant::now();
        self.hooks.signal(signal as i32);
        match signal {
            Signal::SIGUSR2 => return self.explain(true),
            Signal::SIGTSTP => self.stopping = true,
            Signal::SIGCONT => {
                if self.retry.is_some() {
                    self.watch_source();
                }
            }
            Signal::SIGUSR1 => {}
            _ => {
                if self.over {
                    // Nothing runs any more; what the reader of our output did not take is dropped.
                    self.sinks.iter_mut().for_each(Sink::give_up);
                }
                let again = self.passed_on.is_some_and(|(before, at)| {
                    before == Signal::SIGINT && now.duration_since(at) >= SECOND_INTERRUPT
                });
                if signal == Signal::SIGINT && again {
                    self.fail_here(Cause::User { signal: signal as i32 });
                    return self.orders.push_back(Order::End(How::Kill));
                }
                if signal == Signal::SIGTERM {
                    self.grace.get_or_insert(now + GRACE);
                }
                self.passed_on = Some((signal, now));
            }
        }
        self.orders.push_back(Order::Signal(signal as i32));
    }
}

/// Stops here; the terminal's shell lets us go on with SIGCONT.
pub(super) fn stop() {
    let _ = raise(Signal::SIGSTOP);
}
