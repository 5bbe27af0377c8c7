// Parts of the text form.
#pragma once

#include <csrc/fx/graph.h>

#include <optional>
#include <string>

namespace torch::fx {

/// One line of the text form, without indentation.
std::string print_node(const Node& node);
/// "float32[2, s0] cuda:0": dtype and sizes, strides where they are not those of a contiguous tensor, layout and device
/// where they are unusual.
std::string print_info(const TensorInfo& info, const SizeTable& sizes);
/// An argument as the text form has it; `type` is its type where a schema says one.
std::string print_arg(const Arg& arg, const SizeTable& sizes, const c10::TypePtr& type = nullptr);
/// `"a\n"`: in double quotes, with escapes.
std::string quote(const std::string& text);

/// Names of dtypes, layouts and memory formats as Python has them: "float32", "strided", "channels_last".
std::string dtype_name(c10::ScalarType dtype);
std::optional<c10::ScalarType> find_dtype(std::string_view name);
/// The number that stands for a bare word among arguments; empty for unknown words.
std::optional<int64_t> find_word(std::string_view word);

} // namespace torch::fx
