// Loaded by jupyter-book 2, through myst.yml: it refuses in a sentence.
console.error("This is a book of jupyter-book 1, and version 2 cannot build it. Use `make book`, or `pip install 'jupyter-book<2'`.");
process.exit(1);
