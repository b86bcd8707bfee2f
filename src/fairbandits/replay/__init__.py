"""The authors' own released programs, run again with their own random numbers."""
