//! Set kernels made of Gaussian kernels between instances, which MI-Kernel and miGraph share:
//! K(S, T) = Σ_u Σ_v W_u·W_v·exp(−γ‖x_u − x_v‖²), divided by √(K(S, S)·K(T, T)).
//!
//! Several γ and several ways to weight are computed in one pass over all pairs of instances; nothing larger than the
//! matrices over bags is kept.

use super::held_out::{Labelled, Verdict};
use super::instances::Sets;
use super::weigh::nearby;
use crate::data::{Points, PointsBuf};
use crate::error::Result;
use crate::kernel::{Kernel, SquaredDistance};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, not_negative, positive};
use crate::solve::{KernelSvmModel, KernelSvmParams, Precomputed, Scheme};

/// The builders that parameters with a Gaussian kernel and a kernel SVM share.
macro_rules! gaussian_builders {
    ($params:ident) => {
        impl $params {
            /// Sharpness of the Gaussian kernel, above 0; 1 by default.
            #[must_use]
            pub fn gamma(mut self, gamma: f64) -> Self {
                self.gamma = gamma;
                self
            }

            /// The kernel SVM; C = 1 by default.
            #[must_use]
            pub fn svm(mut self, svm: KernelSvmParams) -> Self {
                self.svm = svm;
                self
            }
        }
    };
}
pub(super) use gaussian_builders;

/// γ, and the radius of the graph that weights instances; without one all weigh alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GaussianSetKernel {
    pub(super) gamma: f64,
    pub(super) tau: Option<f64>,
}

impl GaussianSetKernel {
    pub(super) fn check(self) -> Result<()> {
        positive("gamma", self.gamma)?;
        self.tau.map_or(Ok(()), |tau| not_negative("tau", tau))
    }
}

/// Bags with the weights of their instances under several τ.
struct Weighted<'a> {
    sets: &'a Sets,
    /// One list per τ.
    weights: Vec<Vec<f64>>,
}

impl<'a> Weighted<'a> {
    /// W_u is 1, or with τ 1/#{v in the bag : ‖x_u − x_v‖² < τ}, u itself always counted.
    fn new(sets: &'a Sets, taus: &[Option<f64>]) -> Result<Self> {
        let of = |tau: &Option<f64>| {
            let Some(tau) = *tau else { return Ok(vec![1.0; sets.n_instances()]) };
            let counts = nearby(sets, &[tau], Run::single())?.swap_remove(0);
            Ok(counts.into_iter().map(|count| 1.0 / f64::from(count)).collect())
        };
        Ok(Self { sets, weights: taus.iter().map(of).collect::<Result<_>>()? })
    }
}

/// Σ_u Σ_v W_u·W_v·k_γ(x_u, x_v) of two bags, for all γ and τ, γ by γ.
fn sums(a: &Weighted<'_>, bag_a: usize, b: &Weighted<'_>, bag_b: usize, gammas: &[f64], room: &mut Room) -> Vec<f64> {
    let (points, others): (Points<'_>, Points<'_>) = (a.sets.bag(bag_a), b.sets.bag(bag_b));
    let (from, range_b) = (a.sets.range(bag_a).start, b.sets.range(bag_b));
    let taus = a.weights.len();
    let mut sums = vec![0.0; gammas.len() * taus];
    room.distances.resize(others.n_rows(), 0.0);
    room.values.resize(others.n_rows(), 0.0);
    for (u, row) in points.rows().enumerate() {
        SquaredDistance.row_into(row, others, &mut room.distances);
        for (&gamma, sums) in gammas.iter().zip(sums.chunks_exact_mut(taus)) {
            for (value, &distance) in room.values.iter_mut().zip(&room.distances) {
                *value = (-gamma * distance).exp();
            }
            for (tau, sum) in sums.iter_mut().enumerate() {
                let of_b = &b.weights[tau][range_b.clone()];
                let products: f64 = room.values.iter().zip(of_b).map(|(value, weight)| value * weight).sum();
                *sum += a.weights[tau][from + u] * products;
            }
        }
    }
    sums
}

/// Room for one row of distances and kernel values.
#[derive(Default)]
struct Room {
    distances: Vec<f64>,
    values: Vec<f64>,
}

/// The matrices over bags of several kernels, in one pass; `kernels` may repeat γ and τ in any combination.
fn matrices(sets: &Sets, kernels: &[GaussianSetKernel], run: Run<'_>) -> Result<Vec<Vec<f64>>> {
    let (mut gammas, mut taus): (Vec<f64>, Vec<Option<f64>>) = (vec![], vec![]);
    for kernel in kernels {
        if !gammas.contains(&kernel.gamma) {
            gammas.push(kernel.gamma);
        }
        if !taus.contains(&kernel.tau) {
            taus.push(kernel.tau);
        }
    }
    let weighted = Weighted::new(sets, &taus)?;
    let n = sets.len();
    let rows = run.map("kernel", n, |i| {
        let mut room = Room::default();
        Ok((0..=i).map(|j| sums(&weighted, i, &weighted, j, &gammas, &mut room)).collect::<Vec<_>>())
    })?;
    let places = kernels.iter().map(|kernel| {
        let gamma = gammas.iter().position(|&gamma| gamma == kernel.gamma).expect("listed above");
        let tau = taus.iter().position(|&tau| tau == kernel.tau).expect("listed above");
        gamma * taus.len() + tau
    });
    let matrix = |at: usize| {
        let norms: Vec<f64> = (0..n).map(|i| rows[i][i][at].sqrt()).collect();
        let mut values = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let value = rows[i][j][at] / (norms[i] * norms[j]);
                values[i * n + j] = value;
                values[j * n + i] = value;
            }
        }
        values
    };
    Ok(places.map(matrix).collect())
}

/// The matrix over bags of one kernel, row by row.
pub(super) fn matrix(sets: &Sets, kernel: GaussianSetKernel, run: Run<'_>) -> Result<Vec<f64>> {
    Ok(matrices(sets, &[kernel], run)?.swap_remove(0))
}

/// A kernel SVM on bags.
#[derive(Debug, Clone)]
pub(super) struct SetKernelClassifier {
    kernel: GaussianSetKernel,
    /// The bags in use.
    support: Sets,
    model: KernelSvmModel,
    /// Computed from the support.
    weights: Vec<f64>,
    norms: Vec<f64>,
}

impl SetKernelClassifier {
    fn new(kernel: GaussianSetKernel, support: Sets, model: KernelSvmModel) -> Result<Self> {
        let weighted = Weighted::new(&support, &[kernel.tau])?;
        let mut room = Room::default();
        let norms = (0..support.len())
            .map(|bag| sums(&weighted, bag, &weighted, bag, &[kernel.gamma], &mut room)[0].sqrt())
            .collect();
        let weights = weighted.weights.concat();
        Ok(Self { kernel, support, model, weights, norms })
    }

    pub(super) fn fit(
        kernel: GaussianSetKernel,
        svm: &Checked<KernelSvmParams>,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        run: Run<'_>,
    ) -> Result<Self> {
        let values = matrix(sets, kernel, run)?;
        // Sums per class, so that instances have shares in them.
        let svm = (**svm).clone().scheme(Scheme::OneVsRest).check()?;
        let model = svm.fit(&Precomputed::new(&values, sets.len())?, labels, n_classes, None, run)?.model;
        let rows: Vec<usize> = model.expansion.rows().iter().map(|&row| row as usize).collect();
        Self::new(kernel, sets.select(&rows), model)
    }

    pub(super) const fn n_classes(&self) -> usize {
        self.model.n_classes
    }

    pub(super) const fn support(&self) -> &Sets {
        &self.support
    }

    pub(super) fn scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        let (own, others) = (Weighted::new(sets, &[self.kernel.tau])?, self.weighted_support());
        let gammas = [self.kernel.gamma];
        let parts = run.map("score", sets.len(), |bag| {
            let mut room = Room::default();
            let norm = sums(&own, bag, &own, bag, &gammas, &mut room)[0].sqrt();
            let value = |other: usize| {
                let sum = sums(&own, bag, &others, other, &gammas, &mut Room::default())[0];
                sum / (norm * self.norms[other])
            };
            let values: Vec<f64> = (0..self.support.len()).map(value).collect();
            let mut scores = vec![0.0; self.model.n_scores()];
            self.model.scores_into(&values, &mut scores);
            Ok(scores)
        })?;
        Ok(parts.concat())
    }

    fn weighted_support(&self) -> Weighted<'_> {
        Weighted { sets: &self.support, weights: vec![self.weights.clone()] }
    }

    /// What each instance adds to the score of its bag, but for the constant ρ.
    pub(super) fn instance_scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        let own = Weighted::new(sets, &[self.kernel.tau])?;
        let (width, support) = (self.model.n_scores(), self.support.points());
        let bag_of = self.support.bag_of_instances();
        let parts = run.map("share", sets.len(), |bag| {
            let norm = sums(&own, bag, &own, bag, &[self.kernel.gamma], &mut Room::default())[0].sqrt();
            let mut shares = Vec::new();
            let mut distances = vec![0.0; support.n_rows()];
            for (row, weight) in sets.bag(bag).rows().zip(&own.weights[0][sets.range(bag)]) {
                SquaredDistance.row_into(row, support, &mut distances);
                let mut of_bags = vec![0.0; self.support.len()];
                for (v, &distance) in distances.iter().enumerate() {
                    let other = bag_of[v] as usize;
                    let value = (-self.kernel.gamma * distance).exp();
                    of_bags[other] += weight * self.weights[v] * value / (norm * self.norms[other]);
                }
                for sum in 0..width {
                    let products = self.model.expansion.coefficients(sum).iter().zip(&of_bags).map(|(c, k)| c * k);
                    shares.push(products.sum::<f64>());
                }
            }
            Ok(shares)
        })?;
        Ok(parts.concat())
    }

    /// The verdicts on several kernels, each with its SVM, in one pass over pairs of instances.
    pub(super) fn held_out(
        members: &[(GaussianSetKernel, &KernelSvmParams)],
        sets: &Sets,
        of: Labelled<'_>,
    ) -> Result<Vec<Vec<Verdict>>> {
        let mut kernels: Vec<GaussianSetKernel> = vec![];
        for (kernel, _) in members {
            if !kernels.contains(kernel) {
                kernels.push(*kernel);
            }
        }
        let matrices = matrices(sets, &kernels, of.run)?;
        let one = |(kernel, svm): &(GaussianSetKernel, &KernelSvmParams)| {
            let at = kernels.iter().position(|known| known == kernel).expect("listed above");
            let matrix = Precomputed::new(&matrices[at], sets.len())?;
            Ok(of.kernel(&matrix, &[(*svm).clone().check()?])?.swap_remove(0))
        };
        members.iter().map(one).collect()
    }
}

impl Persist for SetKernelClassifier {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.kernel"), &(self.kernel.gamma, self.kernel.tau));
        let starts: Vec<u64> = self.support.starts().iter().map(|&start| start as u64).collect();
        out.put_u64(&format!("{prefix}.starts"), &starts);
        self.support.points().to_buf().save(out, &format!("{prefix}.support"));
        self.model.save(out, &format!("{prefix}.sums"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.kernel");
        let (gamma, tau): (f64, Option<f64>) = from.json(&name)?;
        let kernel = GaussianSetKernel { gamma, tau };
        kernel.check().map_err(|error| bad_part(&name, &error.to_string()))?;
        let model = KernelSvmModel::load(from, &format!("{prefix}.sums"))?;
        if model.n_scores() != model.expansion.n_sums() {
            return Err(bad_part(prefix, "tells classes apart pair by pair"));
        }
        let points = PointsBuf::load(from, &format!("{prefix}.support"))?;
        let starts = from.u64s(&format!("{prefix}.starts"))?.into_iter().map(|start| start as usize).collect();
        let support = Sets::from_parts(points, starts).map_err(|error| bad_part(prefix, &error.to_string()))?;
        if support.len() != model.expansion.rows().len() {
            return Err(bad_part(prefix, "has other bags than its sums need"));
        }
        Self::new(kernel, support, model)
    }
}
