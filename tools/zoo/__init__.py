"""What the tools that export models share."""
