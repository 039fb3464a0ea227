"""What users look at: ``explain``, why programs were compiled, the page and its pictures."""
