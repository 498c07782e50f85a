//! mi-SVM: guess the labels of the instances of positive bags.
//!
//! All instances start with the label of their bag. Then in turns: a kernel SVM on instances; in every positive bag the
//! labels become the signs of f, and if none is positive its best instance does. Negative bags stay negative. Ends when
//! no label changes, when a guess comes back, or after 50 rounds; a bag's score is the largest f of its instances.
//! Several classes: one against the rest.
//!
//! Good where one instance decides, and it says which; slow, for it solves SVMs over instances, and it may end in a poor
//! local optimum. Memory: kernel rows up to a fixed cache, never a matrix over instances.
//!
//! # References
//! Andrews, Tsochantaridis, Hofmann, "Support vector machines for multiple-instance learning", NIPS 2002; paper 4 §7.

pub(super) const GUESS: super::witness::Guess = super::witness::Guess::Labels;
