//! Solvers of batch problems: linear SVM by dual coordinate descent, kernel SVM by SMO.
