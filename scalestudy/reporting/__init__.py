"""HOW IT IS SHOWN: what commands print, figures, the page."""
