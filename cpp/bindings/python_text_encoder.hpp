// A TextEncoder that asks Python: for pipelines that the core does not know.
#pragma once

#include <pybind11/pybind11.h>

#include <span>
#include <string_view>

#include "turnloom/tokenizer.hpp"

namespace turnloom {

/// Calls `encode_regions(regions: list[str]) -> (ids, begins, ends, counts)`, four arrays: int32[n],
/// int64[n], int64[n], int64[len(regions)]; without offsets the second and the third are None. May be called
/// from any thread; attaches to the interpreter for the call.
class PythonTextEncoder final : public TextEncoder {
 public:
  PythonTextEncoder(pybind11::function encode_regions, bool has_offsets);
  [[nodiscard]] bool has_offsets() const noexcept override { return has_offsets_; }
  void encode(std::span<const std::string_view> regions, EncodedRegions& out) const override;

 private:
  pybind11::function encode_regions_;
  bool has_offsets_;
};

}  // namespace turnloom
