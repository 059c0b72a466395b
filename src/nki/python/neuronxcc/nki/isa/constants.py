"""Enumerations of instructions' arguments, under their old module's name."""
from nki.isa import dge_mode, dma_engine, engine, oob_mode, reduce_cmd
