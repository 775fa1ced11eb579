"""Pages, one module for each step: parse, call, show."""
