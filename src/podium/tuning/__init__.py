"""How a policy is found with few paid calls: candidates, a model of outcomes, search, selection, one sealed test."""
