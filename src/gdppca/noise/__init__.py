"""Noise, exactly as calibrated. Mechanisms take values, a scale and a source of bits."""
