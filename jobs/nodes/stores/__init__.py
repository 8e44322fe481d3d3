"""Where files lie beyond the local disk."""
