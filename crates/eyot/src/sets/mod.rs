//! Stage 4c, bags as wholes: a set of points of any size is one thing to compare and to classify.
//!
//! | method | a bag is | classifier |
//! |---|---|---|
//! | `isk` | its shares of isolation cells | linear SVM |
//! | `mi-kernel` | all its instances, compared pair by pair | kernel SVM |
//! | `migraph` | the same, similar ones counting less | kernel SVM |
//! | `mifv` | a Fisher vector of a Gaussian mixture | linear SVM |
//! | `cce` | the clusters it visits | linear SVMs that vote |
//! | `mi-svm` | instances with guessed labels | kernel SVM on instances |
//! | `MI-SVM` | one guessed witness | kernel SVM on instances |
//! | `simple-mi` | its mean | kernel SVM |
//!
//! All take [`Sets`] and class numbers, more than two if need be, and give scores per bag and per instance
//! ([`BagClassifier`]). Parameters are chosen inside training bags ([`BagGrid`]), the scaling of columns included.
//!
//! # References
//! Paper 4.

mod any;
mod cce;
mod gaussian;
mod grid;
mod held_out;
mod instances;
mod isk;
mod kmeans;
mod mi_kernel;
mod mi_svm;
mod mi_svm_bag;
mod mifv;
mod migraph;
mod model;
mod products;
mod scaler;
mod simple_mi;
#[cfg(test)]
mod testing;
mod validate;
mod vectors;
mod weigh;
mod witness;

pub use any::{BagClassifier, BagClassifierParams, SetMethod};
pub use cce::CceParams;
pub use grid::BagGrid;
pub use instances::Sets;
pub use isk::{IskParams, IsolationSetMap};
pub use mi_kernel::MiKernelParams;
pub use mifv::{FisherMap, MiFvParams};
pub use migraph::MiGraphParams;
pub use model::BagClassifierModel;
pub use scaler::Scaler;
pub use simple_mi::SimpleMiParams;
pub use validate::{BagFold, BagValidation, BagValidationParams};
pub use witness::WitnessParams;
