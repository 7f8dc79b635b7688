"""What models are told, one file per prompt: its version, its words, and the strict parser of what comes back."""
