"""Loops over registers under the names they had before they became part of nki.language."""
from nki.language.loops import fori_loop, while_loop
