"""Rows of a batch side by side in bins of one length, as trainers take them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class PackedBatch:
    """Rows in bins: arrays of shape [n_bins, length], read-only. One that is not available has no bins.

    >>> packed = batch.truncate(4096).pack(4096)
    >>> packed.token_ids[packed.place_of(3)]  # row 3 of the batch
    """

    token_ids: npt.NDArray[np.int32]
    """int32[n_bins, length]: the pad id where no row stands."""
    loss_mask: npt.NDArray[np.bool_]
    """bool[n_bins, length]: what to train on.

    Never the first token of a row: a trainer would predict it from the row before.
    """
    position_ids: npt.NDArray[np.int32]
    """int32[n_bins, length]: from 0 in each row; 0 where none stands."""
    segment_ids: npt.NDArray[np.int32]
    """int32[n_bins, length]: the rows of a bin are 1, 2, 3 and so on; 0 where none stands."""
    message_indices: npt.NDArray[np.int32]
    """int32[n_bins, length]: index in the messages of the row, -1 for no message."""
    row_bins: npt.NDArray[np.int64]
    """int64[n_rows]: the bin of each row, -1 for an empty row."""
    row_begins: npt.NDArray[np.int64]
    """int64[n_rows]: where it begins in its bin."""
    row_lengths: npt.NDArray[np.int64]
    """int64[n_rows]: its number of tokens."""

    def __len__(self) -> int:
        return len(self.token_ids)

    def place_of(self, row: int) -> tuple[int, slice] | None:
        """Return the index of a row in every array; None for an empty row, which stands nowhere."""
        n_rows = len(self.row_bins)
        if not 0 <= row < n_rows:
            raise IndexError(f"row {row} of a batch of {n_rows}")
        bin, begin, length = (int(of[row]) for of in (self.row_bins, self.row_begins, self.row_lengths))
        return (bin, slice(begin, begin + length)) if length else None

    def rows_of(self, bin: int) -> npt.NDArray[np.int64]:
        """Return the rows that stand in a bin, in their order there: entry s is segment s + 1."""
        if not 0 <= bin < len(self):
            raise IndexError(f"bin {bin} of {len(self)}")
        rows = np.flatnonzero(self.row_bins == bin)
        return rows[np.argsort(self.row_begins[rows])]
