"""What RabbitMQ's sources share, and the reading of its streams."""
