// Mixtures of experts: several feed-forward networks, of which each token takes a few.
#pragma once

#include <csrc/llm/config.h>
#include <csrc/llm/linear.h>
#include <aten/core/Tensor.h>

#include <vector>

namespace torch::llm {

/// What stands between the two products of a feed-forward network.
at::Tensor activate(Activation activation, const at::Tensor& x);

/// down(activation(gate(x)) * up(x))
struct GatedNetwork {
  Linear gate, up, down;

  at::Tensor operator()(Activation activation, const at::Tensor& x) const;
  int64_t nbytes() const {
    return gate.nbytes() + up.nbytes() + down.nbytes();
  }
};

/// The experts of a layer. A router scores them for each token; the outputs of the best are added up, weighted by their
/// probabilities.
struct Experts {
  Linear router;
  std::vector<GatedNetwork> networks;
  GatedNetwork shared; ///< which all tokens take, with has_shared
  Linear shared_gate;
  bool has_shared = false;

  /// (tokens, hidden) -> (tokens, hidden)
  at::Tensor operator()(const MoeConfig& config, Activation activation, const at::Tensor& x) const;
  /// Bytes that a token's products read.
  int64_t nbytes_of_token(const MoeConfig& config) const;
};

} // namespace torch::llm
