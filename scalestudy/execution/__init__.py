"""WHERE IT RUNS: the trial kernel, blocks, executors, and the session that joins plan, cluster and store.

A *trial* is one draw and its spectra; a *block* is written by the task that computed it; an *executor* runs
groups of blocks in this process or on Dask; a *session* is one run of a spec from plan to last block.
"""
