"""nki.isa.constants: the names of nki.isa's enumerations, for kernels that import them from here."""


def __getattr__(name):
    from nki import isa
    if name in ("engine", "dma_engine", "reduce_cmd", "dge_mode", "oob_mode", "matmul_perf_mode", "nc_version"):
        return getattr(isa, name)
    raise AttributeError(f"module 'nki.isa.constants' has no attribute {name!r}")
