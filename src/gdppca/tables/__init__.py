"""Engines feed the kernels: frames in memory, files, clusters."""
