"""stax_ref.xp against array-api-strict, and the list of what an outside audit does not accept."""
