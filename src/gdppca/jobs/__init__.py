"""What command line and browser both do: read, check, spend, write."""
