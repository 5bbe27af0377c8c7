// Numbers that are computed in a program, as sympy writes them.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/fx/size_table.h>
#include <csrc/program/json.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torch::program {

/// A number: its text, and whether it is an integer ('i'), a float ('f') or a bool ('b').
struct NumberText {
  char kind;
  std::string text;
};

/// Whether it is a function on numbers.
bool is_number_function(const std::string& function);
/// What a function makes of numbers. Throws for functions that have no text.
NumberText apply_to_texts(const std::string& function, const std::vector<NumberText>& operands);
/// A constant.
std::string number_text(const c10::IValue& value);

/// The value that a size had when the program was traced; empty where it is not known.
std::optional<int64_t> hint_of(fx::Dim dim, const fx::SizeTable& table, const std::map<std::string, int64_t>& hints);
/// {"as_int": 3} or {"as_expr": ...}.
Json size_json(fx::Dim dim, const fx::SizeTable& table, const std::map<std::string, int64_t>& hints);

} // namespace torch::program
