"""Questions to a comparison and their answers: numbers first, then the one set of words that says them."""
