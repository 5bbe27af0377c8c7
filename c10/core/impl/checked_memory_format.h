#pragma once

#include <c10/core/MemoryFormat.h>
#include <c10/core/TensorOptions.h>

#include <optional>

namespace c10::impl {

/// The memory format of a factory, given beside its options or inside of them. Throws when it stands in both places,
/// and when the options ask for requires_grad, which only the factories of namespace torch set.
C10_API std::optional<MemoryFormat> check_tensor_options_and_extract_memory_format(
    const TensorOptions& options, std::optional<MemoryFormat> memory_format);

} // namespace c10::impl
