"""Finite-size scaling studies of the singular-value law of softmax self-attention at initialisation."""
