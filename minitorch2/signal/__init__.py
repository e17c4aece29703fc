"""torch.signal: windows of signals.

Files, in reading order:

windows    gaussian, hann, kaiser and the others, symmetric unless asked otherwise

Source: torch.signal.
"""

from minitorch2.signal import windows
