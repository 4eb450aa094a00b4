// The plain way to hash many rows: one after the other, byte by byte. What fnv1a_64_batch is measured against.
#include <cstddef>
#include <cstdint>

extern "C" void serial_fnv1a_64(const char* text, const std::int32_t* offsets, std::size_t n_rows,
                                std::uint64_t* hashes) {
  for (std::size_t row = 0; row < n_rows; ++row) {
    std::uint64_t hash = 14695981039346656037U;
    for (std::int32_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      hash ^= static_cast<unsigned char>(text[i]);
      hash *= 1099511628211U;
    }
    hashes[row] = hash;
  }
}
