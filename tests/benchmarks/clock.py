"""A clock for tests of timing."""

import itertools


class Clock:
    """Stands still unless a function works."""

    def __init__(self):
        self.now = 0.0
        self.calls = []

    def __call__(self):
        return self.now

    def work(self, name, seconds):
        """A function that takes each of `seconds` in turn."""
        durations = itertools.cycle(seconds)

        def function():
            self.calls.append(name)
            self.now += next(durations)

        return function

    def timed(self, name, seconds):
        """The same, returning what it took."""
        durations = itertools.cycle(seconds)

        def function():
            self.calls.append(name)
            took = next(durations)
            self.now += took
            return took

        return function
