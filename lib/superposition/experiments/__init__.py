"""What the named runs compute: one module a subject, with function, point, grid and the meaning of its columns."""
