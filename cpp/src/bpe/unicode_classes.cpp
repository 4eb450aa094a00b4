#include "bpe/unicode_classes.hpp"

namespace turnloom {

#include "bpe/unicode_classes.inc"

}  // namespace turnloom
