"""The tuples that cross the border to the native core."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

ColumnTuple: TypeAlias = tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.int64] | None,
]
"""token_ids, message_indices, fields, sampled_mask, is_content, loss_mask, byte_offsets"""

PackedTuple: TypeAlias = tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.bool_],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int64],
]
"""token_ids, message_indices, loss_mask, position_ids, segment_ids, bins, begins"""

HistoryTuple: TypeAlias = tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.bool_],
    NDArray[np.float32],
]
"""token_ids, message_indices, fields, sampled_mask, is_content, loss_mask, logprobs"""

MarkerTuple: TypeAlias = tuple[int, int, int, int, int, bool]
"""message_index, field, byte_begin, byte_end, token id, became_token"""

EncodedRegions: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""ids int32[n], begins int64[n], ends int64[n], counts int64[n_regions]"""

EncodedWithoutOffsets: TypeAlias = tuple[NDArray[np.int32], None, None, NDArray[np.int64]]
"""The same of an encoder that has no offsets."""
