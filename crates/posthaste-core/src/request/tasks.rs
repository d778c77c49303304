//! Wakers of the tasks that await requests, beside the table: a request has the number of its waker, so that one without a task
//! takes no room for it.
//!
//! What must stay true: a number is had by one request, which gives it back when it ends or when somebody else becomes its
//! audience. No waker is dropped in a VCI: it may be the last that keeps a task, whose end may come back here.

use std::task::Waker;

/// The number of a waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId(u32);

/// The wakers.
#[derive(Debug, Default)]
pub struct Tasks {
    wakers: Vec<Option<Waker>>,
    free: Vec<TaskId>,
}

impl Tasks {
    /// Keeps a waker.
    pub fn add(&mut self, waker: &Waker) -> TaskId {
        let id = self.free.pop().unwrap_or(TaskId(self.wakers.len() as u32));
        match self.wakers.get_mut(id.0 as usize) {
            Some(place) => *place = Some(waker.clone()),
            None => self.wakers.push(Some(waker.clone())),
        }
        id
    }

    /// The request is awaited by this task. The waker of another one that has awaited it.
    #[must_use]
    pub fn change(&mut self, id: TaskId, waker: &Waker) -> Option<Waker> {
        let known = self.wakers.get_mut(id.0 as usize)?.as_mut()?;
        (!known.will_wake(waker)).then(|| std::mem::replace(known, waker.clone()))
    }

    /// Gives a waker back.
    pub fn take(&mut self, id: TaskId) -> Option<Waker> {
        let waker = self.wakers.get_mut(id.0 as usize)?.take()?;
        self.free.push(id);
        Some(waker)
    }

    /// How many requests are awaited.
    pub fn len(&self) -> usize {
        self.wakers.len() - self.free.len()
    }

    /// Whether no request is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again_and_name_one_waker() {
        let mut tasks = Tasks::default();
        let (first, second) = (tasks.add(Waker::noop()), tasks.add(Waker::noop()));
        assert_ne!(first, second);
        assert!(tasks.take(first).is_some() && tasks.take(first).is_none());
        assert!(tasks.change(first, Waker::noop()).is_none(), "it names nobody");
        assert_eq!((tasks.len(), tasks.add(Waker::noop())), (1, first));
        assert!(tasks.take(second).is_some() && tasks.take(first).is_some() && tasks.is_empty());
    }
}
