"""What the chapters share: claims and their ledger, parameters, figures, tables, progress."""

import os

# Threads that spin while they wait make training 50 times slower as soon as something else wants a core. It is read
# when torch comes in, so a chapter imports the book first.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
