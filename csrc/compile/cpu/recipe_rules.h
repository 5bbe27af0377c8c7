// What recipes there are; see Note [Recipes].
#pragma once

#include <csrc/compile/cpu/recipes.h>

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace torch::fused::cpu {

/// Recipes for an operator. Those for comparisons and logic give masks, and take masks for arguments that are bools.
struct RecipeRule {
  std::string_view op; // without its overload
  size_t num_args;
  std::array<Recipe, 6> recipes;
};

struct RecipeRules {
  const RecipeRule* first;
  const RecipeRule* last;
  const RecipeRule* begin() const {
    return first;
  }
  const RecipeRule* end() const {
    return last;
  }
};

/// For floating-point numbers of any kind; 16-bit ones are lanes of floats.
RecipeRules arithmetic_rules();
/// For floats alone, and 16-bit numbers.
RecipeRules float_rules();
/// For ints as wide as a lane.
RecipeRules integer_rules();
/// For bools.
RecipeRules bool_rules();

} // namespace torch::fused::cpu
