#pragma once
#include <aten/core/enum_tag.h>

namespace torch::headeronly {
using at::Tag;
} // namespace torch::headeronly
