"""The Perfetto trace of `windtunnel kernel profile --trace`, read back by a decoder that shares nothing with the writer.

Field numbers are those of Perfetto's published trace_packet.proto, track_event.proto and track_descriptor.proto.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from program import PROGRAM, ROOT  # noqa: E402

BEGIN, END, COUNTER = 1, 2, 4


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def message(data):
    """{field number: [values]}; a number for wire types 0 and 1, bytes for 2."""
    fields, at = defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a message is cut")
        else:
            raise ValueError(f"wire type {kind}")
        fields[key >> 3].append(value)
    return fields


def interned(entries):
    """{id: message} of InternedData's entries, whose field 1 is the id."""
    return {entry[1][0]: entry for entry in map(message, entries)}


class Trace:
    def __init__(self, data):
        packets = message(data)
        if set(packets) != {1}:
            raise ValueError(f"a trace is packets (field 1) alone; found fields {sorted(packets)}")
        self.tracks = {}  # uuid: descriptor
        self.events = []  # (ns, type, track, fields), in the order of the file
        self.names = self.annotations = self.places = {}
        for packet in map(message, packets[1]):
            if 60 in packet:
                track = message(packet[60][0])
                self.tracks[track[1][0]] = track
            if 12 in packet:
                data = message(packet[12][0])
                self.names, self.annotations, self.places = (interned(data[field]) for field in (2, 3, 4))
            if 11 in packet:
                event = message(packet[11][0])
                self.events.append((packet[8][0], event[9][0], event[11][0], event))

    def of_type(self, *types):
        return [event for event in self.events if event[1] in types]

    def track_name(self, uuid):
        """Of a counter or a thread."""
        track = self.tracks[uuid]
        return (track[2][0] if 2 in track else message(track[4][0])[5][0]).decode()

    def counter(self, name):
        return [(ns, event[30][0]) for ns, _, track, event in self.of_type(COUNTER) if self.track_name(track) == name]


class TraceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "attention.pftrace"
            done = subprocess.run(
                [PROGRAM, "kernel", "profile", f"{ROOT}/kernels/attention.py:attention", "--no-band", "--json", "-",
                 "--trace", str(path), *(word for argument in ("q=1x1024x128:bf16", "k=1x1024x128:bf16",
                                                             "v=1x1024x128:bf16", "head_dim=64")
                                        for word in ("--arg", argument))], text=True, capture_output=True, timeout=200)
            if done.returncode:
                raise AssertionError(done.stderr)
            cls.profile = json.loads(done.stdout)
            cls.trace = Trace(path.read_bytes())

    def test_every_instruction_is_a_slice_on_a_track_of_its_engine(self):
        count = defaultdict(int)
        for _, _, track, _ in self.trace.of_type(BEGIN):
            count[self.trace.track_name(track).split()[0]] += 1
        self.assertEqual(dict(count), {name: engine["instructions"] for name, engine in self.profile["engines"].items()
                                       if engine["instructions"]})

    def test_slices_of_a_track_follow_one_another_and_all_end(self):
        open_since, last = {}, {}
        for ns, kind, track, _ in sorted(self.trace.of_type(BEGIN, END), key=lambda event: event[0]):
            self.assertGreaterEqual(ns, last.get(track, 0))
            last[track] = ns
            if kind == BEGIN:
                self.assertNotIn(track, open_since)
                open_since[track] = ns
            else:
                self.assertIn(track, open_since)
                del open_since[track]
        self.assertEqual(open_since, {})
        self.assertLessEqual(max(last.values()), 1e3 * self.profile["latency_us"])

    def test_names_and_source_lines(self):
        files = {path.name: path.read_text().splitlines() for path in (ROOT / "kernels").glob("*.py")}
        for _, _, _, event in self.trace.of_type(BEGIN):
            name = self.trace.names[event[10][0]][2][0].decode()
            place = self.trace.places[event[34][0]]
            path = pathlib.Path(place[2][0].decode())
            self.assertEqual(path.parent.name, "kernels")
            self.assertIn(f"nisa.{name}", files[path.name][place[4][0] - 1])

    def test_arrows_lead_from_earlier_slices_to_those_that_waited(self):
        starts, ends = {}, {}
        for ns, _, _, event in self.trace.of_type(BEGIN):
            for flow in event[47]:
                self.assertNotIn(flow, starts)
                starts[flow] = ns
            for flow in event[48]:
                self.assertNotIn(flow, ends)
                ends[flow] = ns
        self.assertEqual(set(starts), set(ends))
        self.assertGreater(len(starts), 100)
        for flow, ns in starts.items():
            self.assertLessEqual(ns, ends[flow])

    def test_annotations(self):
        values = defaultdict(list)
        for _, _, _, event in self.trace.of_type(BEGIN):
            for annotation in map(message, event[4]):
                name = self.trace.annotations[annotation[1][0]][2][0].decode()
                values[name] += [value for field, found in annotation.items() if field != 1 for value in found]
        self.assertEqual(sum(values["bytes"]), self.profile["dma"]["load_bytes"] + self.profile["dma"]["store_bytes"])
        self.assertIn(b"data", values["waited"])
        self.assertEqual(len(values["waited"]), sum(len(event[48]) for _, _, _, event in self.trace.of_type(BEGIN)))

    def test_counters_rise_and_end_at_nothing(self):
        for name, most in (("SBUF in use", 128 * self.profile["sbuf_bytes_peak"]), ("PSUM in use", 128 * 16384),
                           ("DMA bandwidth", 500)):
            with self.subTest(name):
                points = self.trace.counter(name)
                self.assertEqual([ns for ns, _ in points], sorted(ns for ns, _ in points))
                self.assertGreater(max(value for _, value in points), 0)
                self.assertLessEqual(max(value for _, value in points), most)
                self.assertEqual(points[-1][1], 0)

    def test_every_track_belongs_to_the_process(self):
        process, = (uuid for uuid, track in self.trace.tracks.items() if 3 in track)
        self.assertIn(b"attention", message(self.trace.tracks[process][3][0])[6][0])
        for uuid, track in self.trace.tracks.items():
            if uuid != process:
                self.assertEqual(track[5], [process])
        self.assertLessEqual({track for _, _, track, _ in self.trace.events}, set(self.trace.tracks))


if __name__ == "__main__":
    unittest.main()
