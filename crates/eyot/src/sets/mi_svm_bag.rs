//! MI-SVM: guess the one instance that speaks for each positive bag, its witness.
//!
//! Positive bags start with their mean. Then in turns: a kernel SVM on all negative instances and one vector per positive
//! bag; the witness of a bag becomes its instance of the largest f. Ends when witnesses come back or after 50 rounds; a
//! bag's score is the largest f of its instances. Several classes: one against the rest.
//!
//! Sharper than mi-SVM where exactly one instance decides; wasteful where many do, since all but the witness are left
//! out. Cost and memory as there. The paper calls it Mi-SVM.
//!
//! # References
//! Andrews, Tsochantaridis, Hofmann, "Support vector machines for multiple-instance learning", NIPS 2002; paper 4 §7.

pub(super) const GUESS: super::witness::Guess = super::witness::Guess::Witness;
