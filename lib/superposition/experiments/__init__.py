"""The computations of the named runs: one module per subject, with function, point, grid and meaning of columns.

The functions are plain: they take the fields of a point and ``device`` as keywords, return numbers and texts, and know
nothing of sweeps, files or tables. They import the theory that they need inside, so that runs are listed and tables
are read without it, and without torch.
"""
