"""What the chapters share: claims and their ledger, parameters, figures, tables, progress."""
