// The table behind gradient_formulas.h.
#pragma once

#include <c10/util/ArrayRef.h>

#include <string_view>
#include <utility>
#include <vector>

namespace torch::jit {

/// An operator that graphs are differentiated through. Names that expressions may use: see InputGradient::needs.
struct GradientRow {
  const char* name;
  /// For an argument, the expression of its gradient. Arguments that are not listed have none.
  std::vector<std::pair<const char*, const char*>> gradients;
  /// Where gradients need more than the result: an expression of the result and what they need beside it, ...
  const char* forward = nullptr;
  /// ... and the names of the latter.
  std::vector<std::string_view> saved = {};
};

c10::ArrayRef<GradientRow> gradientRows();
/// Functions that expressions call, as a source of TorchScript.
const char* gradientHelpers();

} // namespace torch::jit
