"""Datasets and the loader that makes mini-batches of them: torch.utils.data.

Files, in reading order:

dataset      Dataset and the ways to combine and split them
sampler      in which order examples are taken
collate      examples become a batch
dataloader   DataLoader: sampler, dataset and collate together
worker       loading in other processes
distributed  each of several processes takes its part
"""

from minitorch2.utils.data.collate import default_collate, default_convert
from minitorch2.utils.data.dataloader import DataLoader
from minitorch2.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from minitorch2.utils.data.distributed import DistributedSampler
from minitorch2.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from minitorch2.utils.data.worker import WorkerInfo, get_worker_info
