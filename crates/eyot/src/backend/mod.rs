//! Where the map runs hot. What decides is the canonical squared distance Σ_k (x_k − z_k)², columns ascending, in `f64`,
//! without fused operations. [`Lanes`] computes exactly that, its vector lanes running over *centres*, never over
//! columns, so every instruction set rounds alike; [`walk`], [`Sieve`], [`Panel`], [`WholePanel`] and [`Neighbours`] propose in
//! `f32` or in whole steps within proven bounds, and whoever calls them settles what is within. No path can change a
//! code.

mod about;
mod cuts;
mod f32x16;
mod hamming;
mod i32x16;
mod lanes;
mod neighbour;
mod panel;
mod room;
mod sieve;
mod simd;
mod walk;
mod whole;

pub(crate) use about::{off_in_f32, squared_distance_about, squared_distance_in_f32};
pub(crate) use cuts::{Cut, Cuts, LEAF, MOST_LEAVES, PerRow, ROWS};
pub(crate) use hamming::{BLOCK, differing_bits, rows_at};
pub(crate) use i32x16::bytes_are_fast;
pub(crate) use lanes::{Lanes, Tiles, Winner};
pub(crate) use neighbour::{Neighbour, Neighbours};
pub(crate) use panel::{Form, NarrowTiles, Panel, Proposal, Rivals};
pub(crate) use room::Room;
pub(crate) use sieve::{Batch, Finds, Rounding, Sieve, SievePoints, sift, weigh};
#[cfg(test)]
pub(crate) use simd::available;
pub(crate) use simd::{Path, best};
pub(crate) use walk::{Leaves, Party, SETS, Seeker, Tree, Walker, coordinates_off, leaf_of, walk};
pub(crate) use whole::{REACH, WholePanel, WholeTiles, pairs_for, round_row, within_reach};

mod prefetch;
pub(crate) use prefetch::prefetch;
