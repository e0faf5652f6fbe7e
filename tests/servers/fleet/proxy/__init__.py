"""TCP proxies that parse the protocol: they count requests, and can drop a certain reply."""
