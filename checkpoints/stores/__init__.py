"""The stores that checkpoints can lie in; each is a file, and other packages bring more."""
