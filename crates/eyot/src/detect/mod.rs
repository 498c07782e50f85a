//! Stage 4b, how odd is x: anomaly detectors.
