"""Counts what kernels of a process issue, and predicts their time."""
from nki import _core, _run

# Schedules of longer kernels would take longer than the kernels.
_MOST_INSTRUCTIONS = 3_000_000


class Watch:
    """Of all kernels since the last `take`."""

    def __init__(self):
        self._reset()
        _run.watch = self

    def _reset(self):
        self.kernels, self.instructions, self.latency_us = 0, 0, 0.0

    def begin(self, sessions):
        for session in sessions:
            session.record()

    def end(self, sessions, toolchain):
        count = sum(session.num_instructions for session in sessions)
        if not count:
            return
        self.kernels += 1
        self.instructions += count
        if self.latency_us is None or count > _MOST_INSTRUCTIONS:
            self.latency_us = None
            return
        try:
            self.latency_us += max(_core.predict(sessions, toolchain)) / 1e3
        except _core.NkiError:
            self.latency_us = None

    def take(self):
        """What a Row has of it."""
        taken = {"kernels": self.kernels, "instructions": self.instructions,
                 "latency_us": round(self.latency_us, 3) if self.kernels and self.latency_us is not None else None}
        self._reset()
        return taken
