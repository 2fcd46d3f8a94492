"""The Persian Rug: theory on the face."""
