//! Synchronisation in which the target takes part, by words in memory that all members have mapped: no message is sent.
//!
//! What must stay true: a word comes behind what was done before it, and its reader is rung after it. Who waits looks at the words
//! once more between saying that it sleeps and sleeping, and ends with an error when a member is lost.

use std::sync::Arc;

use super::lost_member;
use crate::error::{Error, Result};
use crate::explain::Part;
use crate::progress::Vci;
use crate::pt2pt::Engine;
use crate::wait::{Awaited, OfWindow};
use crate::win::{EpochWords, Exposure, Window, Word};
use crate::world::World;

/// How far a fence has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced {
    /// Nothing is done: it goes the general way.
    No,
    /// We have come, to the fence with this number; not all others have.
    Came(u64),
    /// All have come.
    Over,
}

/// Looks whether all members have come to a fence; who has come is not looked at again.
#[inline]
fn all_came(words: EpochWords<'_>, fence: u64) -> impl FnMut() -> bool {
    let mut absent = Some(0);
    move || {
        absent = absent.and_then(|from| words.absent(fence, from));
        absent.is_none()
    }
}

// Fences.
impl World {
    /// `MPI_Win_fence`, as far as it goes at once.
    #[inline]
    pub fn fence_now(&self, window: &Window, no_succeed: bool) -> Fenced {
        let Some((words, heeded)) = window.epoch_words().filter(|_| window.permits_fence()) else {
            return Fenced::No;
        };
        let fence = heeded.next_fence();
        words.come(window.comm().rank() as usize, fence);
        if !self.waiting.spin_on(all_came(words, fence)) {
            return Fenced::Came(fence);
        }
        self.pass_fence(window, no_succeed);
        Fenced::Over
    }

    /// Waits for those who have not come to this fence.
    pub(super) fn meet_at_fence(
        &self,
        call: &'static str,
        window: &Arc<Window>,
        fence: u64,
        no_succeed: bool,
    ) -> Result<()> {
        let Some((words, _)) = window.epoch_words() else { return Ok(()) };
        let silent = move |window: &Window, needs: &mut Vec<usize>| {
            let Some((words, _)) = window.epoch_words() else { return };
            let mut from = 0;
            while let Some(member) = words.absent(fence, from) {
                needs.push(member);
                from = member + 1;
            }
        };
        let lost = |vci: &Vci| lost_member(&vci.engine, window).err();
        let met = self.until_told((call, Part::ForFence), window, silent, all_came(words, fence), lost);
        match met {
            Ok(()) => self.pass_fence(window, no_succeed),
            // The epoch before is over, and none begins.
            Err(_) => window.epochs().fenced(true),
        }
        met
    }

    /// All have come. Whoever sees that rings those who sleep: the last one to come does not know that it is the last.
    #[inline]
    fn pass_fence(&self, window: &Window, no_succeed: bool) {
        let me = window.comm().rank() as usize;
        self.ring_members(window, (0..window.parts().len()).filter(|member| *member != me));
        window.epochs().fenced(no_succeed);
        self.step_now_and_then(window);
    }
}

// Post, start, complete, wait.
impl World {
    /// Tells members something of our epochs.
    pub(super) fn tell_members(&self, window: &Window, about: Word, members: &[usize]) {
        let Some((words, heeded)) = window.epoch_words() else { return };
        let me = window.comm().rank() as usize;
        members.iter().for_each(|to| words.tell(about, *to, me, heeded.next_word(about, *to)));
        self.ring_members(window, members.iter().copied());
    }

    /// `MPI_Win_complete`, if that is a matter of words. Whether it is done.
    #[inline]
    pub fn complete_now(&self, window: &Window) -> bool {
        if window.mapped().is_none() || window.comm().is_revoked() {
            return false;
        }
        let Ok(targets) = window.epochs().check_complete() else { return false };
        window.epochs().completed();
        self.tell_members(window, Word::Completed, &targets);
        self.step_now_and_then(window);
        true
    }

    /// `MPI_Win_wait`, if that is a matter of words and of moments. Whether it is done.
    #[inline]
    pub fn wait_exposure_now(&self, window: &Window) -> bool {
        let mut exposure = crate::win::lock(&window.exposure);
        let Some(Exposure::Words(origins)) = &*exposure else { return false };
        if window.comm().is_revoked() {
            return false;
        }
        let is_over = self.waiting.spin_on(self.all_told(window, Word::Completed, origins));
        if is_over {
            self.heed(window, Word::Completed, origins);
            *exposure = None;
            drop(exposure);
            self.step_now_and_then(window);
        }
        is_over
    }

    /// Looks whether all of these members have told us something of their epochs.
    #[inline]
    fn all_told<'a>(
        &self,
        window: &'a Window,
        about: Word,
        members: &'a [usize],
    ) -> impl FnMut() -> bool + use<'a> {
        let (words, me) = (window.epoch_words(), window.comm().rank() as usize);
        let mut open = members.iter().peekable();
        move || {
            let is_new = |member| words.is_none_or(|(words, heeded)| heeded.is_new(words, about, me, member));
            while open.next_if(|member| is_new(**member)).is_some() {}
            open.peek().is_none()
        }
    }

    /// What these members have told has been heeded.
    #[inline]
    fn heed(&self, window: &Window, about: Word, members: &[usize]) {
        if let Some((_, heeded)) = window.epoch_words() {
            members.iter().for_each(|member| heeded.heed(about, *member));
        }
    }

    /// The others of these members are lost: a word of this epoch that came is not one of the next.
    fn heed_those_who_told(&self, window: &Window, about: Word, members: &[usize]) -> Vec<usize> {
        let silent = self.silent(window, about, members);
        let told: Vec<usize> = members.iter().copied().filter(|member| !silent.contains(member)).collect();
        self.heed(window, about, &told);
        told
    }

    /// Those of these members that have told us nothing new.
    fn silent(&self, window: &Window, about: Word, members: &[usize]) -> Vec<usize> {
        members.iter().copied().filter(|member| !self.all_told(window, about, &[*member])()).collect()
    }

    /// Why some of these members will tell nothing any more, once all others have told.
    fn never_told(
        &self,
        engine: &Engine,
        window: &Window,
        (about, members): (Word, &[usize]),
    ) -> Option<Error> {
        if let Err(why) = window.check_revoked() {
            return Some(why);
        }
        if engine.losses.is_empty() {
            return None;
        }
        let silent = self.silent(window, about, members).into_iter();
        let lost = silent.map(|member| engine.losses.check(window.peer(member)).err());
        lost.collect::<Option<Vec<Error>>>()?.into_iter().next()
    }

    /// Waits until these members have told us something of their epochs. Who has told is heeded also if others are lost.
    pub(super) fn until_members_told(
        &self,
        about_call: (&'static str, Part),
        window: &Arc<Window>,
        about: Word,
        members: &[usize],
    ) -> Result<()> {
        self.until_words(about_call, window, about, members).map_err(|(why, _)| why)
    }

    /// The same; with an error the members that have told.
    fn until_words(
        &self,
        about_call: (&'static str, Part),
        window: &Arc<Window>,
        about: Word,
        members: &[usize],
    ) -> std::result::Result<(), (Error, Vec<usize>)> {
        let mut all_told = self.all_told(window, about, members);
        if !self.waiting.spin_on(&mut all_told) {
            let me = window.comm().rank() as usize;
            let waited_for = members.to_vec();
            let silent = move |window: &Window, needs: &mut Vec<usize>| {
                let Some((words, heeded)) = window.epoch_words() else { return };
                needs.extend(waited_for.iter().filter(|member| !heeded.is_new(words, about, me, **member)));
            };
            let lost = |vci: &Vci| self.never_told(&vci.engine, window, (about, members));
            if let Err(why) = self.until_told(about_call, window, silent, all_told, lost) {
                return Err((why, self.heed_those_who_told(window, about, members)));
            }
        }
        self.heed(window, about, members);
        Ok(())
    }

    /// Waits until these targets have begun their exposure epochs. If one is lost the others hear that nothing will be accessed.
    pub(super) fn until_members_posted(
        &self,
        call: &'static str,
        window: &Arc<Window>,
        targets: &[usize],
    ) -> Result<()> {
        self.until_words((call, Part::ForPost), window, Word::Posted, targets).map_err(|(why, posted)| {
            self.tell_members(window, Word::Completed, &posted);
            why
        })
    }

    /// Whether these members have told us something of their epochs; that is heeded, then.
    pub(super) fn have_members_told(&self, window: &Window, about: Word, members: &[usize]) -> Result<bool> {
        if !self.all_told(window, about, members)() {
            self.step_in(window.comm());
            let lost = self.never_told(&self.vci_of(window.comm()).engine, window, (about, members));
            if let Some(why) = lost {
                self.heed_those_who_told(window, about, members);
                return Err(why);
            }
            if !self.all_told(window, about, members)() {
                return Ok(false);
            }
        }
        self.heed(window, about, members);
        Ok(true)
    }

    /// One call in some makes progress: a program may wait by such calls alone for what only its own progress brings about.
    #[inline]
    pub(super) fn step_now_and_then(&self, window: &Window) {
        if window.is_time_for_progress() {
            self.step_in(window.comm());
        }
    }

    /// Waits until words have been written. `silent` adds the members whose words are missing; `lost` says why they will not be.
    fn until_told(
        &self,
        (call, part): (&'static str, Part),
        window: &Arc<Window>,
        silent: impl Fn(&Window, &mut Vec<usize>) + Clone + 'static,
        mut is_told: impl FnMut() -> bool,
        lost: impl Fn(&Vci) -> Option<Error>,
    ) -> Result<()> {
        let context = window.comm().context();
        let members = |window: &Window| {
            let mut needs = Vec::new();
            silent(window, &mut needs);
            needs
        };
        let awaited = |_: &Vci| {
            let need = |member: usize| (Some(window.peer(member)), part, member as i32);
            let needs = members(window).into_iter().map(need).collect();
            let (window, silent) = (window.clone(), silent.clone());
            let is_there = move || {
                let mut needs = Vec::new();
                silent(&window, &mut needs);
                needs.is_empty()
            };
            Awaited::Window(OfWindow { context, needs, is_there: Some(Box::new(is_there)) })
        };
        self.waiting.until(context.vci(), call, awaited, |vci| {
            if is_told() {
                return Some(Ok(()));
            }
            lost(vci).map(Err)
        })
    }

    /// Rings members, who may sleep for what no packet tells.
    pub(super) fn ring_members(&self, window: &Window, members: impl Iterator<Item = usize>) {
        let Some((_, heeded)) = window.epoch_words() else { return };
        for member in members {
            match heeded.local(member) {
                Some(local) => self.runtime.doorbell.ring_for_room(local as usize),
                // Other threads of this process.
                None => {
                    let wakes = self.runtime.sleepers.with(|parked| parked.happened());
                    wakes.into_iter().for_each(|wake| self.runtime.wake(wake));
                }
            }
        }
    }
}
