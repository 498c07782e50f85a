//! Pairwise kernels κ(x, y), for baselines and Nyström maps.
