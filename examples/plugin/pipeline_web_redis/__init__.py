"""Redis streams as a source of Pipeline Web."""
