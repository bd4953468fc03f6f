"""What the end-to-end suites and the adapter benchmark are built from: one idea to a module, standard library only."""
