// Makes arguments from the types of a schema: plausible ones, and what a caller could get wrong.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "test/fuzz/random.h"
#include "test/fuzz/tensors.h"

namespace fuzz {

/// Draws the arguments of one call. Tensors of a call fit together: sizes that broadcast together and one dtype, as
/// long as the draw is a plausible one.
class ArgumentMaker {
 public:
  explicit ArgumentMaker(Random& random);

  /// The values of all tensors are moderate: results can be compared.
  bool moderate() const {
    return moderate_;
  }
  /// From here on some of the tensors are sparse: most, where `mostly`.
  void allow_sparse(bool mostly) {
    sparse_percent_ = mostly ? 70 : 40;
  }
  /// `tensor`, or a sparse one of its sizes and dtype.
  at::Tensor maybe_sparse(const at::Tensor& tensor);
  /// Tensors made elsewhere that belong to this call.
  void know(const c10::IValue& value);

  /// A value of the argument's type, whatever the type can mean.
  c10::IValue fresh(const c10::Argument& argument);
  /// A value that differs from `value` in one respect.
  c10::IValue nearby(const c10::IValue& value, const c10::Argument& argument);
  /// The same elements, placed otherwise.
  at::Tensor replaced(const at::Tensor& tensor);

 private:
  c10::IValue fresh(const c10::Type& type, c10::TypeKind meaning, const c10::Argument& argument);
  c10::IValue fresh_list(const c10::Type& element, c10::TypeKind meaning, const c10::Argument& argument);
  c10::IValue nearby_list(const c10::IValue& value, const c10::Argument& argument);

  at::Tensor tensor(const std::string& name);
  at::Tensor nearby_tensor(const at::Tensor& tensor);
  Shape shape();
  Shape kin_of(Shape shape);
  Shape changed(Shape shape);
  c10::ScalarType dtype();
  Placing placing();
  Values values();

  int64_t integer(const std::string& name);
  int64_t enumerator(c10::TypeKind meaning);
  double number();
  c10::IValue scalar();
  std::string text(const c10::Argument& argument);
  c10::Device device();

  Random& random_;
  bool plausible_;
  bool moderate_;
  double sparse_percent_ = 0;
  Shape shape_;
  c10::ScalarType dtype_;
  std::vector<at::Tensor> tensors_;
};

} // namespace fuzz
