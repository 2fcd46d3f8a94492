"""What the named runs compute: one module a subject, with function, point, grid and the meaning of its columns.

The functions are plain: they take the fields of a point and ``device`` as keywords, return numbers and texts, and know
nothing of sweeps, files or tables. They import the theory that they need inside, so that runs are listed and tables
are read without it, and without torch.
"""
