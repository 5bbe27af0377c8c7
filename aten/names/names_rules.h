// How each operator names its results: data of the entries, for the kernel of the key Named.
#pragma once

#include <c10/util/ArrayRef.h>

#include <cstdint>

namespace at::names {

/// What the field `names` of an entry may be. `pointwise` is understood for entries of that shape.
enum class Rule : uint8_t {
  pointwise, // those of all operands, which broadcast
  self, // those of the first tensor
  reduce, // without `dim`, unless `keepdim`; none if there is no `dim`
  drop_dim, // without `dim`
  transpose, // `dim0` and `dim1` change places; without them, of a matrix, both dimensions
  squeeze, // without the dimensions of size 1, or those of `dim` that are
  expand, // new dimensions come first
  diagonal, // without `dim1` and `dim2`, and one more
  cat, // those of all tensors of a list, which are alike
  distances, // rows of the first and rows of the second, after the batch
  product, // rows of the first, columns of the second, after the batch
  added_product, // the same of the second and third tensor, and those of the first
  equal, // whether names are equal is part of the result
  none, // none, whatever the operands' are
};

struct OperatorRule {
  const char* name;
  const char* overload_name;
  Rule rule;
};

/// Sorted by name and overload; generated.
c10::ArrayRef<OperatorRule> operator_rules();

} // namespace at::names
