"""How far the estimators are from the packet level, on a fixed set of scenarios."""
