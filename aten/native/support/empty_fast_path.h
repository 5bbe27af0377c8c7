// The short way of at::empty, see Note [Fast path of calls] in aten/core/dispatch/OperatorEntry.h.
#pragma once

#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/impl/DefaultDtype.h>
#include <c10/core/impl/RecycledTensors.h>

#include <bit>
#include <cstdint>
#include <optional>

namespace at::native {

/// A recycled CPU tensor, or null where there is none or the call asks for anything else than a dense one of few
/// elements.
c10::TensorImpl* empty_fast_path(
    c10::IntArrayRef size, c10::TensorOptions options, std::optional<c10::MemoryFormat> memory_format) noexcept;

/// The same for one dimension and no options.
C10_ALWAYS_INLINE c10::TensorImpl* empty_fast_path_inline(
    c10::IntArrayRef size, c10::TensorOptions options, std::optional<c10::MemoryFormat> memory_format) noexcept {
  static_assert(sizeof(options) == sizeof(uint64_t), "options are compared as one word");
  if (C10_UNLIKELY(
          memory_format.has_value() || size.size() != 1 ||
          std::bit_cast<uint64_t>(options) != std::bit_cast<uint64_t>(c10::TensorOptions()))) {
    return nullptr;
  }
  return c10::impl::RecycledTensors::take_line(size[0], c10::impl::default_dtype.load(std::memory_order_relaxed));
}

} // namespace at::native
