//! The file edges of eyot: readers, writers, model files, reports.
