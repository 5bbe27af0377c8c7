// Arguments to try operators with. Pointwise rows describe theirs; the other operators have functions in samples/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "test/ops/boxed_op.h"
#include "test/ops/op_table.h"
#include "test/support/random.h"

namespace test {

struct Sample {
  Stack args; // complete
  std::string note; // what is special about it, for messages
  // The earlier sample (its position in the list) whose tensors hold the same elements in another layout.
  std::optional<size_t> same_elements = std::nullopt;
};

/// What is asked of the samples.
enum class Purpose : uint8_t {
  Values, // many shapes, layouts and special values
  Gradient, // small, float64 or complex128, away from kinks
};

/// All samples of a row for one dtype; `op` is its operator. Empty when nobody wrote any.
std::vector<Sample> samples_of(const OpRow& row, const BoxedOp& op, c10::ScalarType dtype, Purpose purpose);

/// The wanted result of a pointwise row, or an undefined tensor when the row has no reference for these arguments.
at::Tensor pointwise_reference(const OpRow& row, const BoxedOp& op, const Stack& args);

/// The dtypes a row is tried with for `purpose`.
std::vector<c10::ScalarType> dtypes_of(const OpRow& row, Purpose purpose);

/// Facts about the samples of an operator that is not pointwise.
struct SampleTraits {
  bool random = false; // results are not determined by the arguments: only shapes and dtypes are compared
  bool gradient = true; // take part in the gradient tests, if the row is differentiable
  bool layouts = true; // results must not depend on the strides of the inputs
  bool out_of_place = true; // false: results are views, so out and guard checks make no sense
  bool meta = true; // false: refuses tensors without data, because elements say what to do
  std::vector<int> constants = {}; // arguments that gradients are not defined for, though they are floating
};

/// Registers samples for an operator, by a static object in samples/*.cpp:
///   const SampleSet kSum("sum", [](c10::ScalarType dtype, Random& random) -> SampleSet::Arguments {
///     return {{random.tensor(dtype, {2, 3})}};
///   });
/// The function gives leading arguments; the rest get the defaults of the schema.
class SampleSet {
 public:
  using Arguments = std::vector<Stack>;
  using Make = std::function<Arguments(c10::ScalarType, Random&)>;

  SampleSet(const char* op, Make make, SampleTraits traits = {});

  const SampleTraits& traits() const {
    return traits_;
  }
  const Make& make() const {
    return make_;
  }

  /// The set registered for an operator, or nullptr.
  static const SampleSet* find(const std::string& op);

 private:
  Make make_;
  SampleTraits traits_;
};

inline c10::IValue ints(std::vector<int64_t> values) {
  return c10::IValue(std::move(values));
}
inline c10::IValue none() {
  return {};
}
inline c10::IValue tensors(std::vector<at::Tensor> values) {
  return c10::IValue(std::move(values));
}

/// The traits of a row's samples; pointwise rows have the default ones.
SampleTraits traits_of(const OpRow& row);

} // namespace test
