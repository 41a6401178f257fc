"""HOW FAR IT IS: distances between spectra and laws, and the rates at which they fall."""
