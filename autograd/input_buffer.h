#pragma once

#include <autograd/function_hook.h>
#include <c10/core/Stream.h>
#include <c10/macros/Export.h>

#include <optional>
#include <utility>

namespace torch::autograd {

/// The gradients that have arrived for a node, summed up for each of its inputs.
struct TORCH_API InputBuffer {
  InputBuffer() = default;
  explicit InputBuffer(size_t size) : buffer(size) {}
  explicit InputBuffer(variable_list&& inputs) : buffer(std::move(inputs)) {}
  InputBuffer(InputBuffer&&) = default;
  InputBuffer& operator=(InputBuffer&&) = default;
  InputBuffer(const InputBuffer&) = delete;
  InputBuffer& operator=(const InputBuffer&) = delete;

  /// Adds `var` to input `pos`; nothing happens when it is undefined. Adds in place where nobody can notice.
  void add(size_t pos, Variable&& var);

  /// The same for a gradient that node stream `producer` made and stream `consumer` will read: makes the streams wait
  /// for each other.
  void add(
      size_t pos,
      Variable&& var,
      const std::optional<c10::Stream>& producer,
      const std::optional<c10::Stream>& consumer);

  Variable operator[](size_t pos) const {
    return buffer[pos];
  }
  static variable_list variables(InputBuffer&& g) {
    return std::move(g.buffer);
  }

  variable_list buffer;
};

} // namespace torch::autograd
