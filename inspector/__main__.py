"""`python -m inspector`."""

from inspector.cli.main import main

if __name__ == "__main__":
    main()
