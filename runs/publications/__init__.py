"""Published results: our own copy of their data, and the importer that brings the repository to it."""
