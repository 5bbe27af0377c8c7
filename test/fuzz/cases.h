// The cases: number K of a seed is one call of one operator.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "test/conformance/corpus.h"
#include "test/ops/boxed_op.h"
#include "test/fuzz/random.h"
#include "test/fuzz/values.h"

namespace fuzz {

using test::Stack;

struct Call {
  c10::OperatorHandle op;
  Stack args;
  /// Every tensor holds moderate numbers, so results can be compared.
  bool moderate;
};

/// How a case is made a second time.
enum class Variant : uint8_t { AsDrawn, PlacedOtherwise };

class Cases {
 public:
  /// All operators of namespace aten whose arguments can be made, in order of their names. Calls recorded in `corpus`
  /// (see test/conformance/README.md) are what half of the draws start from.
  Cases(uint64_t seed, const std::string& corpus);

  const std::vector<c10::OperatorHandle>& operators() const {
    return operators_;
  }
  /// Position in operators() of the operator that a case calls.
  size_t operator_of(uint64_t index) const;
  /// The same arguments each time, in new memory.
  Call make(uint64_t index, Variant variant = Variant::AsDrawn) const;

 private:
  Stack draw(const c10::OperatorHandle& op, Random& random, bool& moderate) const;
  bool start_from_record(const c10::OperatorHandle& op, Random& random, Stack& args) const;
  const std::vector<const conformance::Case*>* records_for(const c10::FunctionSchema& schema, Random& random) const;

  uint64_t seed_;
  std::vector<c10::OperatorHandle> operators_;
  std::unique_ptr<conformance::Corpus> corpus_;
  std::unordered_map<std::string, std::vector<const conformance::Case*>> records_;
  std::unordered_map<std::string, std::vector<std::string>> kin_; // recorded operators by name without overload and _
};

/// "aten::add.Tensor".
std::string full_name(const c10::FunctionSchema& schema);
/// Positions of the arguments that the schema says are written to.
std::vector<bool> written_arguments(const c10::FunctionSchema& schema);
/// The schema and each argument, one a line.
std::string describe(const Call& call);

} // namespace fuzz
