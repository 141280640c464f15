"""`python -m mm` is `mm`."""

from mm.cli.main import main

main()
