//! Fourier online gradient descent (FOGD): gradient descent on random Fourier features. Constant memory and time per
//! point whatever the data; needs many features where the kernel is narrow, since the features ignore the data.
//!
//! f = w·z(x); where the gradient is not 0, w −= η·g·z. Features are cosines and sines without the factor 1/√D, for
//! which published rates are meant; `normalised` features at rate η·D give the same predictions. Cost O(nnz·D).
//!
//! # References
//! Reparameterized Random Features, §5, Tables 1 and 2.

use super::{
    Ahead, Head, Input, Linear, Mapped, OnlineLearner, OnlineLoss, Scratch, Target, head_access, learner_parts,
};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Gaussian};
use crate::map::{FourierMap, MAX_FREQUENCIES};
use crate::model::Persist;
use crate::parallel::Run;
use crate::params::{Checked, in_range, not_negative, params, positive};

/// Points mapped by one thread at a time.
const ROWS: usize = 64;

params! {
    /// Parameters of [`Fogd`].
    pub struct FogdParams {
        /// The kernel to approximate: Gaussian or Laplacian.
        kernel: AnyKernel = AnyKernel::Gaussian(Gaussian { gamma: 1.0 }),
        /// Number of frequencies D; there are 2D features.
        frequencies: usize = 400,
        /// Whether features have length 1 instead of √D.
        normalised: bool = false,
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Errors of numbers within it count as none.
        epsilon: f64 = 0.1,
        /// The rate η.
        eta: f64 = 0.003,
        /// Decay λ of the weights.
        lambda: f64 = 0.0,
        /// Seed of the frequencies.
        seed: u64 = 0,
    }
}

impl FogdParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        in_range("frequencies", self.frequencies, 1..=MAX_FREQUENCIES)?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        not_negative("lambda", self.lambda)?;
        if !matches!(self.kernel, AnyKernel::Gaussian(_) | AnyKernel::Laplacian(_)) {
            let expected = "gaussian or laplacian for random Fourier features".into();
            return Err(Error::Param { name: "kernel", expected, got: self.kernel.name().into() });
        }
        Ok(Checked::new(self))
    }
}

/// Random features of a kernel that has a spectral law: Gaussian, and Laplacian otherwise.
pub(crate) fn fourier_map(kernel: AnyKernel, seed: u64, frequencies: usize, columns: usize, unit: bool) -> FourierMap {
    match kernel {
        AnyKernel::Laplacian(kernel) => FourierMap::laplacian(seed, kernel.lambda, frequencies, columns, unit),
        AnyKernel::Gaussian(kernel) => FourierMap::gaussian(seed, kernel.gamma, frequencies, columns, unit),
        _ => unreachable!("checked with the parameters"),
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Fogd {
    params: Checked<FogdParams>,
    head: Head,
    map: FourierMap,
    linear: Linear,
}

impl Checked<FogdParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Fogd {
        let map = fourier_map(self.kernel, self.seed, self.frequencies, like.n_columns(), self.normalised);
        Fogd {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            linear: Linear::new(map.n_features(), 1),
            map,
            params: self,
        }
    }
}

impl OnlineLearner for Fogd {
    head_access!();

    fn widen(&mut self) {
        self.linear.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        if let Some(Mapped::Dense(z)) = x.mapped {
            return self.linear.score(Some(z), at);
        }
        self.map.features_into(x.row, &mut at.features, &mut at.theta, &mut at.spare);
        self.linear.score(None, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        self.linear.shrink(1.0 - self.params.eta * self.params.lambda);
        if let Some(step) = self.head.step(&at.scores, target) {
            let z = if let Some(Mapped::Dense(z)) = x.mapped { z } else { &at.features };
            self.linear.add(z, step, self.params.eta);
        }
    }

    fn map_ahead(&self, points: Points<'_>, run: Run<'_>) -> Result<Ahead> {
        let width = self.map.n_features();
        let mut values = vec![0.0; points.n_rows() * width];
        run.chunks_mut("map", &mut values, ROWS * width, |chunk, out| {
            let mut at = Scratch::default();
            for (i, out) in out.chunks_exact_mut(width).enumerate() {
                let x = points.row(chunk * ROWS + i);
                self.map.features_into(x, &mut at.features, &mut at.theta, &mut at.spare);
                out.copy_from_slice(&at.features);
            }
            Ok(())
        })?;
        Ok(Ahead::Dense { width, values })
    }
}

learner_parts!(Fogd, FogdParams, [map, linear], |learner| {
    learner.linear.fits(learner.map.n_features(), learner.head.n_scores())
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    #[test]
    fn unit_features_at_d_times_the_rate_predict_the_same() {
        let mut rng = rng_of(3, Component::Synthetic, 0);
        let points = PointsBuf::from_dense((0..600).map(|_| rng.open01()).collect(), 3).unwrap();
        let start = |normalised, eta| {
            let params = FogdParams::default().frequencies(50).normalised(normalised).eta(eta);
            params.check().unwrap().start(points.as_points())
        };
        let (mut plain, mut unit) = (start(false, 0.01), start(true, 0.5));
        let (mut at, mut at_unit) = (Scratch::default(), Scratch::default());
        for row in points.as_points().rows() {
            let class = Target::Class(u32::from(row.get(0) > row.get(1)));
            plain.learn(row.into(), class, &mut at).unwrap();
            unit.learn(row.into(), class, &mut at_unit).unwrap();
            assert!((at.scores[0] - at_unit.scores[0]).abs() < 1e-9);
        }
    }
}
