"""Counts what kernels of a process issue, and predicts their time."""
from nki import _core, _run

# Schedules of longer kernels would take longer than the kernels.
_MOST_INSTRUCTIONS = 3_000_000
_MOST_FOR_A_BAND = 300_000  # it takes eight schedules


class Watch:
    """Of all kernels since the last `take`."""

    def __init__(self):
        self._reset()
        _run.watch = self

    def _reset(self):
        self.kernels, self.instructions, self.latency_us, self.band_us, self.shapes = 0, 0, 0.0, [0.0, 0.0], []

    def begin(self, sessions):
        for session in sessions:
            session.record()

    def end(self, sessions, toolchain, shapes):
        count = sum(session.num_instructions for session in sessions)
        if not count:
            return
        self.kernels += 1
        self.instructions += count
        self.shapes = shapes
        if self.latency_us is None or count > _MOST_INSTRUCTIONS:
            self.latency_us = None
            return
        try:
            us = max(_core.predict(sessions, toolchain)) / 1e3
            ends = [ns / 1e3 for ns in _core.band(sessions, toolchain)] if count <= _MOST_FOR_A_BAND else [us, us]
        except _core.NkiError:
            self.latency_us = None
            return
        self.latency_us += us
        self.band_us = [sum(pair) for pair in zip(self.band_us, ends)]

    def take(self):
        """What a Row has of it. The shapes are those of the last kernel's arguments."""
        timed = self.kernels > 0 and self.latency_us is not None
        low, high = self.band_us
        taken = {"kernels": self.kernels, "instructions": self.instructions, "shapes": self.shapes,
                 "latency_us": round(self.latency_us, 3) if timed else None,
                 "latency_low_us": round(low, 3) if timed else None, "latency_high_us": round(high, 3) if timed else None}
        self._reset()
        return taken
