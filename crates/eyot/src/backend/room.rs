//! Numbers for one call: on the stack where they are few, so that a single row asks for no memory.

use std::ops::{Deref, DerefMut};

/// `len` numbers, the first N of them without an allocation.
pub(crate) struct Room<T, const N: usize> {
    few: [T; N],
    many: Vec<T>,
    len: usize,
}

impl<T: Copy, const N: usize> Room<T, N> {
    pub(crate) fn new(len: usize, value: T) -> Self {
        Self { few: [value; N], many: if len > N { vec![value; len] } else { Vec::new() }, len }
    }
}

impl<T, const N: usize> Deref for Room<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.len > N { &self.many } else { &self.few[..self.len] }
    }
}

impl<T, const N: usize> DerefMut for Room<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.len > N { &mut self.many } else { &mut self.few[..self.len] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_as_long_as_asked_for() {
        for len in [0, 1, 4, 5, 100] {
            let mut room = Room::<u32, 4>::new(len, 7);
            assert_eq!(room[..], vec![7; len]);
            room.iter_mut().for_each(|value| *value += 1);
            assert_eq!(room[..], vec![8; len]);
        }
    }
}
