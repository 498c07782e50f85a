//! Sequential minimal optimisation, the one core of kernel classification, regression and one-class learning.
//!
//! min_α ½ Σ_kl y_k y_l α_k α_l K_kl + Σ p_k α_k subject to 0 ≤ α_k ≤ U_k and Σ y_k α_k = constant. The state is
//! F_k = y_k × gradient = Σ_l y_l α_l K_kl + y_k p_k, which makes every formula free of signs: with I_up the variables
//! that may move along +y and I_low those that may move along −y, the optimum has max_{I_low} F ≤ min_{I_up} F. A step
//! moves i = argmin_{I_up} F up and j down, j of the largest second-order gain (F_j − F_i)²/(K_ii + K_jj − 2K_ij), the
//! denominator floored at 1e-12, so a matrix that is not positive semi-definite still ends. Stops when the violation
//! is at most ε.
//!
//! Without a bias there is no equality constraint, and a step moves the one variable of the largest gain.
//!
//! Variables beyond n share the kernel rows of the first n (regression has two per point).
//! Time O(n) per step plus a kernel row where the cache has none; memory O(n) plus the cache.
//!
//! # References
//! Fan, Chen, Lin, "Working set selection using second order information for training SVM", JMLR 2005, WSS 2.

use super::matrix::{KernelMatrix, RowCache};
use crate::error::Result;
use crate::parallel::Run;

/// Smallest curvature of a step.
const FLOOR: f64 = 1e-12;

/// A problem over α; its length is a multiple of the matrix's.
pub(super) struct Problem {
    /// ±1.
    pub(super) signs: Vec<f64>,
    /// Upper bounds.
    pub(super) uppers: Vec<f64>,
    /// Linear term p.
    pub(super) linear: Vec<f64>,
    /// Where to start, feasible.
    pub(super) start: Vec<f64>,
    /// Whether Σ y_k α_k is fixed.
    pub(super) bias: bool,
}

/// When to stop, and how much to remember.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) epsilon: f64,
    pub(super) max_steps: usize,
    pub(super) cache_bytes: usize,
}

impl Limits {
    /// LIBSVM's limit of steps, so that nothing runs for ever.
    pub(super) fn new(epsilon: f64, variables: usize, cache_bytes: usize) -> Self {
        Self { epsilon, max_steps: variables.saturating_mul(100).max(10_000_000), cache_bytes }
    }
}

/// The optimum.
pub(super) struct Optimum {
    pub(super) alphas: Vec<f64>,
    /// ρ: the decision is Σ y α K − ρ; 0 without a bias.
    pub(super) rho: f64,
    pub(super) steps: usize,
    pub(super) converged: bool,
    /// The objective that was minimised.
    pub(super) objective: f64,
}

/// Which way a variable may move.
#[derive(Clone, Copy, PartialEq)]
struct Freedom {
    up: bool,
    low: bool,
}

struct State<'a> {
    problem: &'a Problem,
    alphas: Vec<f64>,
    /// F.
    forces: Vec<f64>,
    freedoms: Vec<Freedom>,
    n: usize,
}

impl State<'_> {
    fn free(&mut self, k: usize) {
        let (can_grow, can_fall) = (self.alphas[k] < self.problem.uppers[k], self.alphas[k] > 0.0);
        self.freedoms[k] = if self.problem.signs[k] > 0.0 {
            Freedom { up: can_grow, low: can_fall }
        } else {
            Freedom { up: can_fall, low: can_grow }
        };
    }

    /// How far y_k·α_k can rise (`direction` 1) or fall (−1).
    fn room(&self, k: usize, direction: f64) -> f64 {
        if self.problem.signs[k] == direction { self.problem.uppers[k] - self.alphas[k] } else { self.alphas[k] }
    }

    /// Moves y_k·α_k by `step`; `whole` if that is all the room there is, so that the bound is met exactly.
    fn shift(&mut self, k: usize, step: f64, whole: bool) {
        let change = step * self.problem.signs[k];
        self.alphas[k] = match (whole, change > 0.0) {
            (true, true) => self.problem.uppers[k],
            (true, false) => 0.0,
            _ => self.alphas[k] + change,
        };
        self.free(k);
    }

    /// F += scale · row.
    fn push(&mut self, row: &[f64], scale: f64) {
        for forces in self.forces.chunks_exact_mut(self.n) {
            forces.iter_mut().zip(row).for_each(|(force, value)| *force += scale * value);
        }
    }

    /// The variable of I_up with the smallest F.
    fn lowest_up(&self) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (k, (freedom, &force)) in self.freedoms.iter().zip(&self.forces).enumerate() {
            if freedom.up && best.is_none_or(|(_, lowest)| force < lowest) {
                best = Some((k, force));
            }
        }
        best.map(|(k, _)| k)
    }

    /// The largest F of I_low.
    fn highest_low(&self) -> f64 {
        let low = self.freedoms.iter().zip(&self.forces).filter(|(freedom, _)| freedom.low);
        low.fold(f64::NEG_INFINITY, |highest, (_, &force)| highest.max(force))
    }

    /// ρ: the mean of F over free variables, else the middle between the two bounds.
    fn rho(&self) -> f64 {
        let (mut sum, mut count) = (0.0, 0u32);
        for (freedom, force) in self.freedoms.iter().zip(&self.forces) {
            if freedom.up && freedom.low {
                sum += force;
                count += 1;
            }
        }
        if count > 0 {
            return sum / f64::from(count);
        }
        let lowest = self.lowest_up().map_or(f64::INFINITY, |k| self.forces[k]);
        match (lowest, self.highest_low()) {
            (up, low) if up.is_finite() && low.is_finite() => f64::midpoint(up, low),
            (up, _) if up.is_finite() => up,
            (_, low) if low.is_finite() => low,
            _ => 0.0,
        }
    }

    /// ½ Σ α_k (gradient_k + p_k).
    fn objective(&self) -> f64 {
        let mut sum = 0.0;
        for (k, alpha) in self.alphas.iter().enumerate() {
            sum += alpha * (self.problem.signs[k] * self.forces[k] + self.problem.linear[k]);
        }
        0.5 * sum
    }
}

/// Finds the optimum of a problem.
pub(super) fn solve<M: KernelMatrix>(matrix: &M, problem: &Problem, limits: Limits, run: Run<'_>) -> Result<Optimum> {
    let (n, variables) = (matrix.n(), problem.signs.len());
    let diagonal: Vec<f64> = (0..n).map(|i| matrix.diagonal(i)).collect();
    let mut cache = RowCache::new(matrix, limits.cache_bytes);
    let mut state = State {
        problem,
        alphas: problem.start.clone(),
        forces: problem.signs.iter().zip(&problem.linear).map(|(sign, linear)| sign * linear).collect(),
        freedoms: vec![Freedom { up: false, low: false }; variables],
        n,
    };
    for k in 0..variables {
        state.free(k);
        if state.alphas[k] != 0.0 {
            state.push(cache.row(k % n), problem.signs[k] * state.alphas[k]);
        }
    }
    let (mut steps, mut converged) = (0, false);
    while steps < limits.max_steps && !converged {
        if steps % 1024 == 0 {
            run.tick("solve", steps, limits.max_steps)?;
        }
        converged = if problem.bias {
            step_pair(&mut state, &mut cache, &diagonal, limits.epsilon)
        } else {
            step_one(&mut state, &mut cache, &diagonal, limits.epsilon)
        };
        steps += usize::from(!converged);
    }
    let rho = if problem.bias { state.rho() } else { 0.0 };
    Ok(Optimum { rho, steps, converged, objective: state.objective(), alphas: state.alphas })
}

/// Moves the best pair; whether there was none left to move.
fn step_pair<M: KernelMatrix>(
    state: &mut State<'_>,
    cache: &mut RowCache<'_, M>,
    diagonal: &[f64],
    epsilon: f64,
) -> bool {
    let Some(i) = state.lowest_up() else { return true };
    let n = state.n;
    let (lowest, own) = (state.forces[i], diagonal[i % n]);
    let row = cache.row(i % n);
    let (mut violation, mut best_gain, mut best) = (f64::NEG_INFINITY, f64::NEG_INFINITY, None);
    for first in (0..state.forces.len()).step_by(n) {
        let forces = state.forces[first..first + n].iter().zip(&state.freedoms[first..first + n]);
        for (at, (((&force, freedom), &value), &other)) in forces.zip(row).zip(diagonal).enumerate() {
            if !freedom.low {
                continue;
            }
            let difference = force - lowest;
            violation = violation.max(difference);
            if difference > 0.0 {
                let gain = difference * difference / (own + other - 2.0 * value).max(FLOOR);
                if gain > best_gain {
                    (best_gain, best) = (gain, Some(first + at));
                }
            }
        }
    }
    let Some(j) = best.filter(|_| violation > epsilon) else { return true };
    let (row_i, row_j) = cache.pair(i % n, j % n);
    let curvature = (own + diagonal[j % n] - 2.0 * row_i[j % n]).max(FLOOR);
    let (room_i, room_j) = (state.room(i, 1.0), state.room(j, -1.0));
    let step = ((state.forces[j] - lowest) / curvature).min(room_i).min(room_j);
    state.shift(i, step, step == room_i);
    state.shift(j, -step, step == room_j);
    for forces in state.forces.chunks_exact_mut(n) {
        for ((force, a), b) in forces.iter_mut().zip(row_i).zip(row_j) {
            *force += step * (a - b);
        }
    }
    false
}

/// Moves the best variable where Σ y α is free; whether there was none left to move.
fn step_one<M: KernelMatrix>(
    state: &mut State<'_>,
    cache: &mut RowCache<'_, M>,
    diagonal: &[f64],
    epsilon: f64,
) -> bool {
    let (mut violation, mut best_gain, mut best) = (0.0f64, 0.0, None);
    for (k, (freedom, &force)) in state.freedoms.iter().zip(&state.forces).enumerate() {
        let wanted = if force < 0.0 { freedom.up } else { freedom.low };
        if wanted {
            violation = violation.max(force.abs());
            let gain = force * force / diagonal[k % state.n].max(FLOOR);
            if gain > best_gain {
                (best_gain, best) = (gain, Some(k));
            }
        }
    }
    let Some(k) = best.filter(|_| violation > epsilon) else { return true };
    let force = state.forces[k];
    let direction = if force < 0.0 { 1.0 } else { -1.0 };
    let room = state.room(k, direction);
    let step = (force.abs() / diagonal[k % state.n].max(FLOOR)).min(room);
    state.shift(k, step * direction, step == room);
    state.push(cache.row(k % state.n), step * direction);
    false
}
