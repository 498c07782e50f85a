//! Pairwise kernels κ(x, y), for baselines and Nyström maps.

mod pairwise;

use serde::{Deserialize, Serialize};

use crate::data::{Points, Row};
use crate::error::{ColumnRef, Error, Result};
use crate::parallel::Run;
use crate::params::{not_negative, positive};

pub(crate) use pairwise::SquaredDistance;
pub use pairwise::{Chi2, Gaussian, Intersection, Laplacian, Polynomial};

/// A symmetric function of two points.
pub trait Kernel: Sync {
    /// κ(x, y).
    fn value(&self, x: Row<'_>, y: Row<'_>) -> f64;

    /// κ(x, y) for every row y of `points`, bit for bit what [`Kernel::value`] gives, but faster.
    ///
    /// # Panics
    /// If `out` has not one place per row.
    fn row_into(&self, x: Row<'_>, points: Points<'_>, out: &mut [f64]) {
        assert_eq!(out.len(), points.n_rows(), "one place per row");
        out.iter_mut().zip(points.rows()).for_each(|(out, y)| *out = self.value(x, y));
    }
}

/// A kernel chosen at run time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum AnyKernel {
    /// exp(−γ‖x−y‖²).
    Gaussian(Gaussian),
    /// exp(−λ‖x−y‖₁).
    Laplacian(Laplacian),
    /// (α x·y + r)^h.
    Polynomial(Polynomial),
    /// Σ 2x_j·y_j/(x_j + y_j).
    Chi2(Chi2),
    /// Σ min(x_j, y_j).
    Intersection(Intersection),
}

/// Runs an expression on the kernel inside an [`AnyKernel`].
macro_rules! with_kernel {
    ($any:expr, $kernel:ident => $body:expr) => {
        match $any {
            AnyKernel::Gaussian($kernel) => $body,
            AnyKernel::Laplacian($kernel) => $body,
            AnyKernel::Polynomial($kernel) => $body,
            AnyKernel::Chi2($kernel) => $body,
            AnyKernel::Intersection($kernel) => $body,
        }
    };
}

impl AnyKernel {
    /// The kernel's name, as users write it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Gaussian(_) => "gaussian",
            Self::Laplacian(_) => "laplacian",
            Self::Polynomial(_) => "polynomial",
            Self::Chi2(_) => "chi2",
            Self::Intersection(_) => "intersection",
        }
    }

    /// The names of all kernels.
    pub const NAMES: [&'static str; 5] = ["gaussian", "laplacian", "polynomial", "chi2", "intersection"];

    /// The kernel of a name for points of so many columns. Without γ: 1 (gaussian), ln ψ / columns (laplacian) or
    /// 1 / columns (polynomial).
    pub fn named(name: &str, gamma: Option<f64>, psi: usize, columns: usize) -> Result<Self> {
        Ok(match name {
            "gaussian" => Self::Gaussian(Gaussian { gamma: gamma.unwrap_or(1.0) }),
            "laplacian" => Self::Laplacian(match gamma {
                Some(lambda) => Laplacian { lambda },
                None => Laplacian::of_psi(psi as f64, columns),
            }),
            "polynomial" => {
                let kernel = Polynomial::of_columns(columns);
                Self::Polynomial(Polynomial { alpha: gamma.unwrap_or(kernel.alpha), ..kernel })
            }
            "chi2" => Self::Chi2(Chi2 {}),
            "intersection" => Self::Intersection(Intersection {}),
            other => {
                let expected = format!("one of {}", Self::NAMES.join(", "));
                return Err(Error::Param { name: "kernel", expected, got: other.into() });
            }
        })
    }

    /// Refuses parameters outside their range.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Gaussian(Gaussian { gamma }) => positive("gamma", gamma),
            Self::Laplacian(Laplacian { lambda }) => positive("lambda", lambda),
            Self::Polynomial(Polynomial { alpha, offset, degree }) => {
                positive("alpha", alpha)?;
                not_negative("offset", offset)?;
                crate::params::in_range("degree", degree, 1..=64)
            }
            Self::Chi2(_) | Self::Intersection(_) => Ok(()),
        }
    }

    /// Whether values must be at least 0: χ² and intersection.
    pub const fn needs_not_negative(&self) -> bool {
        matches!(self, Self::Chi2(_) | Self::Intersection(_))
    }

    /// Refuses points that the kernel is not defined for.
    pub fn check_points(&self, points: Points<'_>) -> Result<()> {
        if self.needs_not_negative() { check_not_negative(points) } else { Ok(()) }
    }
}

impl Kernel for AnyKernel {
    fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        with_kernel!(self, kernel => kernel.value(x, y))
    }

    fn row_into(&self, x: Row<'_>, points: Points<'_>, out: &mut [f64]) {
        with_kernel!(self, kernel => kernel.row_into(x, points, out));
    }
}

/// Refuses points with a negative value, naming the first.
pub fn check_not_negative(points: Points<'_>) -> Result<()> {
    for (row, values) in points.rows().enumerate() {
        if let Some((column, value)) = values.nonzeros().find(|&(_, value)| value < 0.0) {
            return Err(Error::Negative { row, column: ColumnRef::Number(column), value });
        }
    }
    Ok(())
}

/// The matrix κ(x_i, y_j), row by row. O(n·m) memory.
pub fn gram(kernel: &impl Kernel, x: Points<'_>, y: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
    let mut values = vec![0.0; x.n_rows() * y.n_rows()];
    if !values.is_empty() {
        run.chunks_mut("kernel", &mut values, y.n_rows(), |i, out| {
            kernel.row_into(x.row(i), y, out);
            Ok(())
        })?;
    }
    Ok(values)
}
