"""nl.tile_size: the sizes of the machine that is simulated, from its file in data/chips."""
import os

from nki import _core

_size = _core.machine_constant


class _TileSize:
    @property
    def pmax(self):
        """Partitions."""
        return _size("partitions")

    @property
    def psum_bank_fmax_bytes(self):
        """Bytes of a PSUM bank, a partition."""
        return _size("psum_bank_bytes")

    @property
    def psum_bank_fmax(self):
        """Float32 elements of a PSUM bank, a partition."""
        return self.psum_bank_fmax_bytes // 4

    @property
    def psum_fmax(self):
        """The former name of psum_bank_fmax."""
        return self.psum_bank_fmax

    @property
    def psum_num_banks(self):
        """PSUM banks; one less when DMA transposes run on the Tensor engine, which takes a bank."""
        banks = _size("psum_banks")
        lowered = os.environ.get("NKI_DMA_TRANSPOSE_AS_PE_TRANSPOSE", "").lower() in ("1", "true")
        return banks - 1 if lowered and _size("generation") >= 3 else banks

    @property
    def sbuf_size_bytes(self):
        """Bytes of SBUF, all partitions together."""
        return self.pmax * _size("sbuf_partition_bytes")

    @property
    def sbuf_fmax_bytes(self):
        """Bytes of SBUF that kernels may use, a partition."""
        return _size("sbuf_usable_partition_bytes")

    @property
    def sbuf_fmax(self):
        """Float32 elements of SBUF that kernels may use, a partition."""
        return self.sbuf_fmax_bytes // 4

    @property
    def total_available_sbuf_size(self):
        """The former name of sbuf_fmax_bytes."""
        return self.sbuf_fmax_bytes

    @property
    def gemm_stationary_fmax(self):
        """Columns of a matmul's stationary operand."""
        return _size("max_stationary")

    @property
    def gemm_moving_fmax(self):
        """Columns of a matmul's moving operand."""
        return _size("max_moving")

    @property
    def bn_stats_fmax(self):
        """Elements a partition that nisa.bn_stats takes."""
        return _size("bn_stats_max")

    @property
    def psum_min_align(self):
        """Bytes to which addresses within a PSUM partition are aligned."""
        return _size("psum_min_align_bytes")

    @property
    def sbuf_min_align(self):
        """Bytes to which addresses within an SBUF partition are aligned."""
        return _size("sbuf_min_align_bytes")


tile_size = _TileSize()
