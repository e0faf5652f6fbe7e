"""TCP proxies that understand what they forward: they count requests, and can lose a particular reply."""
