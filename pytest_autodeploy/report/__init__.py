"""What a run leaves behind: terminal, files, pytest-html, JUnit. Reports only render."""
