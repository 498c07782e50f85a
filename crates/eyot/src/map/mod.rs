//! Stage 3, x into φ(x): feature maps.
