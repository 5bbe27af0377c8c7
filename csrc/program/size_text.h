// Sizes as PyTorch writes them: sympy's expressions.
#pragma once

#include <csrc/fx/size_table.h>

#include <string>

namespace torch::program {

/// The size of a text, either "Add(Symbol('s0', integer=True), Integer(1))" (sympy's srepr) or "s0 + 1" (its str).
/// Throws c10::Error for what is no whole number or too complicated for a SizeTable.
fx::Dim parse_size(const std::string& text, fx::SizeTable& sizes);
/// sympy's srepr of a size.
std::string print_size(fx::Dim dim, const fx::SizeTable& sizes);

} // namespace torch::program
