"""A client of RocketMQ's remoting protocol: pulls by queue offset, sends, and asks name servers and brokers about themselves."""
