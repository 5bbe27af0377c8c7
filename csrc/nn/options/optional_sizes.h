// The type of options that are sizes or left out.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/Indirect.h>

#include <cstdint>
#include <optional>
#include <vector>

extern template class TORCH_API c10::Indirect<std::optional<std::vector<int64_t>>>;
