//! The calls by which a port gets the name of a service and is found by it (MPI-5.0 §11.9.4).
//!
//! What must stay true: a name at a server lives as long as the connection by which this process has published it, so that
//! connection stays until the name is taken back or the engine is closed.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use super::World;
use crate::error::Result;
use crate::meeting::{Inquiry, Line, Question, Told};
use crate::wait::Awaited;

impl World {
    /// Publishes a port under the name of a service, in the function `call` of the API.
    ///
    /// # Errors
    /// A name that is published already; no place for names.
    pub fn publish_name(&self, call: &'static str, service: &str, port: &str) -> Result<()> {
        let question = Question::Publish { service: service.to_owned(), port: port.to_owned() };
        if let Told { line: Some(line), .. } = self.ask_for_names(call, question)? {
            let mut published = self.published();
            published.insert(service.to_owned(), line);
            // The server lets go of whoever has a name that somebody else has taken back. Now and then is enough.
            if published.len().is_power_of_two() {
                published.retain(|_, line| line.step().is_ok());
            }
        }
        Ok(())
    }

    /// The port that is published under the name of a service.
    ///
    /// # Errors
    /// None is; no place for names.
    pub fn look_up_name(&self, call: &'static str, service: &str) -> Result<String> {
        let told = self.ask_for_names(call, Question::LookUp { service: service.to_owned() })?;
        Ok(told.texts.into_iter().next().unwrap_or_default())
    }

    /// Takes a name back.
    ///
    /// # Errors
    /// The name is not published, or another port is; no place for names.
    pub fn unpublish_name(&self, call: &'static str, service: &str, port: &str) -> Result<()> {
        // Another thread may publish the name again before this one goes on.
        let line = self.published().remove(service);
        let question = Question::Unpublish { service: service.to_owned(), port: port.to_owned() };
        let outcome = self.ask_for_names(call, question);
        if let (Err(_), Some(line)) = (&outcome, line) {
            self.published().entry(service.to_owned()).or_insert(line);
        }
        outcome.map(drop)
    }

    fn ask_for_names(&self, call: &'static str, question: Question) -> Result<Told> {
        let config = self.vci().engine.config.clone();
        let mut inquiry = Inquiry::begin(&config, question)?;
        let set = self.sleep_on(|_| Ok(()))?; // each try of a connection comes in when it begins
        let place = inquiry.place();
        self.waiting.until(0, call, |_| Awaited::OtherJob(place.clone()), |_| inquiry.step(&set).transpose())
    }

    /// What this process has published at a server counts as not published from now on.
    pub(in crate::world) fn forget_published(&self) {
        self.published().clear();
    }

    fn published(&self) -> MutexGuard<'_, HashMap<String, Line>> {
        self.common.abroad.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
