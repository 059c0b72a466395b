"""The compiler package of the older NKI generation; neuronxcc.nki is what it holds here."""
