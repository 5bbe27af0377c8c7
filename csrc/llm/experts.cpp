#include <csrc/llm/experts.h>

#include <aten/Functions.h>
#include <c10/util/SmallVector.h>

#include <algorithm>

namespace torch::llm {

namespace {

using at::Tensor;

// Tokens of one expert, and where they and their weights lie.
struct Share {
  c10::SmallVector<int64_t, 8> tokens;
  c10::SmallVector<float, 8> weights;
};

Tensor indices_of(const Share& share) {
  Tensor rows = at::empty({static_cast<int64_t>(share.tokens.size())}, at::kLong);
  std::copy(share.tokens.begin(), share.tokens.end(), rows.mutable_data_ptr<int64_t>());
  return rows;
}

Tensor weights_of(const Share& share) {
  Tensor weights = at::empty({static_cast<int64_t>(share.weights.size()), 1}, at::kFloat);
  std::copy(share.weights.begin(), share.weights.end(), weights.mutable_data_ptr<float>());
  return weights;
}

} // namespace

Tensor activate(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::SiLU:
      return at::silu(x);
    case Activation::GELU:
      return at::gelu(x);
    case Activation::GELUTanh:
      return at::gelu(x, "tanh");
    case Activation::ReLU:
      break;
  }
  return at::relu(x);
}

Tensor GatedNetwork::operator()(Activation activation, const Tensor& x) const {
  return down(activate(activation, gate(x)).mul_(up(x)));
}

Tensor Experts::operator()(const MoeConfig& config, Activation activation, const Tensor& x) const {
  const Tensor probabilities = at::softmax(router(x).to(at::kFloat), -1);
  auto [best, which] = at::topk(probabilities, config.per_token, -1);
  if (config.normalize) {
    best = best / best.sum({-1}, true);
  }
  const Tensor weights = best.contiguous(), chosen = which.contiguous();
  std::vector<Share> shares(networks.size());
  for (int64_t i = 0; i < chosen.numel(); ++i) {
    Share& share = shares[static_cast<size_t>(chosen.const_data_ptr<int64_t>()[i])];
    share.tokens.push_back(i / config.per_token);
    share.weights.push_back(weights.const_data_ptr<float>()[i]);
  }
  Tensor out = at::zeros_like(x);
  for (size_t i = 0; i < shares.size(); ++i) {
    if (!shares[i].tokens.empty()) {
      const Tensor rows = indices_of(shares[i]);
      const Tensor y = networks[i](activation, x.index_select(0, rows));
      out.index_add_(0, rows, y * weights_of(shares[i]).to(y.scalar_type()));
    }
  }
  if (has_shared) {
    out.add_(shared(activation, x).mul_(at::sigmoid(shared_gate(x))));
  }
  return out;
}

int64_t Experts::nbytes_of_token(const MoeConfig& config) const {
  int64_t all = 0;
  for (const GatedNetwork& network : networks) {
    all += network.nbytes();
  }
  const int64_t share = networks.empty() ? 0 : all / static_cast<int64_t>(networks.size()) * config.per_token;
  return router.nbytes() + share + (has_shared ? shared.nbytes() + shared_gate.nbytes() : 0);
}

} // namespace torch::llm
