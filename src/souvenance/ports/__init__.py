"""What the app asks of the outside: small protocols, owned by their caller."""
