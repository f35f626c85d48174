"""The RPC between the host and a board: messages, link, client and the service side."""
