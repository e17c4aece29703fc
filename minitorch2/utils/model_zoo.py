"""torch.utils.model_zoo: the old name of torch.hub's loader of weights.

Example: `load_url(url)` reads the file that the cache keeps for a URL.

Source: torch.utils.model_zoo.
"""

from minitorch2.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
