"""windtunnel kernel suite: which kernels of somebody's folder tree run on this simulator, and why others do not.

find.py looks for kernels, tests and examples without importing any; pool.py runs each in a process of its own, which is
child.py; outcome.py says what an exception means; report.py prints the matrix. docs/SUITE.md describes it for users.
"""
