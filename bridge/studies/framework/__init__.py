"""What every study is made of: figures, claims, the runner, the report."""
