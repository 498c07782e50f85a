//! Stage 4a, a point and its label: online learners.
