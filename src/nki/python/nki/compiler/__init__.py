"""nki.compiler: what a kernel is compiled for and run by."""
