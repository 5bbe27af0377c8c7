// Modules that compute in another dtype than the one that their parameters are trained in.
#pragma once

#include <csrc/arg.h>
#include <csrc/distributed/ddp/parameter_swap.h>

#include <optional>

namespace torch::distributed {

/// In which dtypes a module computes; empty: as before.
struct MixedPrecision {
  /// Parameters, and the tensors that forward is given.
  TORCH_ARG(std::optional<c10::ScalarType>, param_dtype);
  /// Sums of gradients over ranks; by default that of the parameters which are trained.
  TORCH_ARG(std::optional<c10::ScalarType>, reduce_dtype);
  /// Buffers, once for all.
  TORCH_ARG(std::optional<c10::ScalarType>, buffer_dtype);
};

/// Gives a module converted parameters before each forward. Registered, and so trained and saved, are those that were
/// there, whose gradients come back through the conversion.
class TORCH_API ConvertedParameters {
 public:
  ConvertedParameters(const std::shared_ptr<nn::Module>& module, c10::ScalarType dtype);
  void renew() const;

 private:
  struct Pair {
    at::Tensor used;
    at::Tensor trained;
  };
  std::vector<Pair> pairs_;
  c10::ScalarType dtype_;
};

} // namespace torch::distributed
