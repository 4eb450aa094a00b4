"""`python -m turnloom.cli` is the `turnloom` command."""

from turnloom.cli import main

if __name__ == "__main__":
    main()
