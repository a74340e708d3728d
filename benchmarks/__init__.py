"""Side by side against the peers, in one run, as ratios.

python -m benchmarks --help
"""
