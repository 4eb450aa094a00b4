"""Searches for token ids, one id after the other."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from turnloom._ids import TokenIds, id_array, token_id_array
from turnloom._ragged import check_ragged
from turnloom.scan import TokenHits, TokensToFind
from turnloom.tokenizer import RaggedIds

MAX_TOKEN = 2**31 - 1
