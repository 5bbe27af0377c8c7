// A language model trained as such trainers do: gradients gathered over some batches, blocks whose activations are
// computed again on the way back, weights shared by embedding and head, groups with and without decay, a warm-up,
// checkpoints on the way.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iomanip>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "report.h"

namespace nn = torch::nn;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

namespace {

struct GPTConfig {
  int64_t vocab = 48, block = 16, layers = 2, heads = 2, width = 24;
  double dropout = 0.1;
  bool bias = false;
};

/// Runs a function without a graph, and once more on the way back.
struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static Tensor forward(
      AutogradContext* ctx, const Tensor& x, std::function<Tensor(const Tensor&)>* body, variable_list weights) {
    ctx->save_for_backward({x});
    ctx->saved_data["body"] = reinterpret_cast<int64_t>(body);
    ctx->saved_data["count"] = static_cast<int64_t>(weights.size());
    const auto generator = at::detail::getDefaultCPUGenerator();
    ctx->saved_data["rng"] = generator.get_state();
    torch::NoGradGuard no_grad;
    return (*body)(x);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_(true);
    auto* body = reinterpret_cast<std::function<Tensor(const Tensor&)>*>(ctx->saved_data["body"].toInt());
    auto generator = at::detail::getDefaultCPUGenerator();
    const Tensor now = generator.get_state();
    generator.set_state(ctx->saved_data["rng"].toTensor());
    Tensor y;
    {
      torch::AutoGradMode enable(true);
      y = (*body)(x);
    }
    generator.set_state(now);
    torch::autograd::backward({y}, {grads[0]});
    return {x.grad(), Variable(), Variable()};
  }
};

struct LayerNormImpl : nn::Module {
  LayerNormImpl(int64_t n, bool bias_) {
    weight = register_parameter("weight", torch::ones({n}));
    if (bias_) {
      bias = register_parameter("bias", torch::zeros({n}));
    } else {
      register_parameter("bias", {}, false);
    }
  }
  Tensor forward(const Tensor& x) {
    return torch::layer_norm(x, {x.size(-1)}, weight, bias, 1e-5);
  }
  Tensor weight, bias;
};
TORCH_MODULE(LayerNorm);

struct SelfAttentionImpl : nn::Module {
  explicit SelfAttentionImpl(const GPTConfig& c)
      : qkv(register_module("qkv", nn::Linear(nn::LinearOptions(c.width, 3 * c.width).bias(c.bias)))),
        out(register_module("out", nn::Linear(nn::LinearOptions(c.width, c.width).bias(c.bias)))),
        drop(register_module("drop", nn::Dropout(nn::DropoutOptions(c.dropout)))),
        heads(c.heads) {
    mask = register_buffer("mask", torch::ones({c.block, c.block}).tril().view({1, 1, c.block, c.block}));
  }
  Tensor forward(const Tensor& x) {
    const int64_t b = x.size(0), t = x.size(1), c = x.size(2);
    auto split = qkv(x).split(c, 2);
    for (auto& part : split) {
      part = part.view({b, t, heads, c / heads}).transpose(1, 2);
    }
    Tensor att = split[0].matmul(split[1].transpose(-2, -1)) * (1.0 / std::sqrt(split[1].size(-1)));
    att = att.masked_fill(mask.slice(2, 0, t).slice(3, 0, t) == 0, -std::numeric_limits<float>::infinity());
    att = drop(att.softmax(-1));
    return drop(out(att.matmul(split[2]).transpose(1, 2).contiguous().view({b, t, c})));
  }
  nn::Linear qkv, out;
  nn::Dropout drop;
  Tensor mask;
  int64_t heads;
};
TORCH_MODULE(SelfAttention);

struct BlockImpl : nn::Module {
  explicit BlockImpl(const GPTConfig& c)
      : ln1(register_module("ln1", LayerNorm(c.width, c.bias))),
        attention(register_module("attention", SelfAttention(c))),
        ln2(register_module("ln2", LayerNorm(c.width, c.bias))),
        mlp(register_module(
            "mlp",
            nn::Sequential(
                nn::Linear(nn::LinearOptions(c.width, 4 * c.width).bias(c.bias)),
                nn::GELU(nn::GELUOptions().approximate("tanh")),
                nn::Linear(nn::LinearOptions(4 * c.width, c.width).bias(c.bias)),
                nn::Dropout(c.dropout)))) {}
  Tensor forward(Tensor x) {
    x = x + attention(ln1(x));
    return x + mlp->forward(ln2(x));
  }
  LayerNorm ln1;
  SelfAttention attention;
  LayerNorm ln2;
  nn::Sequential mlp;
};
TORCH_MODULE(Block);

struct GPTImpl : nn::Module {
  explicit GPTImpl(const GPTConfig& c) : config(c) {
    wte = register_module("wte", nn::Embedding(c.vocab, c.width));
    wpe = register_module("wpe", nn::Embedding(c.block, c.width));
    drop = register_module("drop", nn::Dropout(c.dropout));
    blocks = register_module("blocks", nn::ModuleList());
    for (int64_t i = 0; i < c.layers; ++i) {
      blocks->push_back(Block(c));
    }
    ln = register_module("ln", LayerNorm(c.width, c.bias));
    head = register_module("head", nn::Linear(nn::LinearOptions(c.width, c.vocab).bias(false)));
    head->weight = wte->weight; // shared; the registered one stays its own
    for (auto& block : *blocks) {
      bodies.emplace_back([block](const Tensor& x) { return block->as<Block>()->forward(x); });
    }
    apply([](nn::Module& m) {
      torch::NoGradGuard guard;
      if (auto* linear = m.as<nn::Linear>()) {
        linear->weight.normal_(0, 0.02);
        if (linear->bias.defined()) {
          linear->bias.zero_();
        }
      } else if (auto* embedding = m.as<nn::Embedding>()) {
        nn::init::normal_(embedding->weight, 0, 0.02);
      }
    });
    for (auto& p : named_parameters()) {
      if (p.key().size() > 10 && p.key().rfind("out.weight") == p.key().size() - 10) {
        nn::init::normal_(p.value(), 0.0, 0.02 / std::sqrt(2.0 * static_cast<double>(c.layers)));
      }
    }
  }
  std::pair<Tensor, Tensor> forward(const Tensor& tokens, const Tensor& targets = {}) {
    const int64_t t = tokens.size(1);
    TORCH_CHECK(t <= config.block, "cannot forward sequence of length ", t, ", block size is only ", config.block);
    const Tensor places = torch::arange(0, t, torch::dtype(torch::kLong).device(tokens.device())).unsqueeze(0);
    Tensor x = drop(wte(tokens) + wpe(places));
    for (size_t i = 0; i < bodies.size(); ++i) {
      x = checkpointed && is_training() ? Checkpoint::apply(x, &bodies[i], (*blocks)[i]->parameters()) : bodies[i](x);
    }
    x = ln(x);
    if (!targets.defined()) {
      return {head(x.slice(1, -1)), Tensor()};
    }
    const Tensor logits = head(x);
    const Tensor loss = nn::functional::cross_entropy(
        logits.view({-1, logits.size(-1)}), targets.view(-1),
        nn::functional::CrossEntropyFuncOptions().ignore_index(-1));
    return {logits, loss};
  }
  GPTConfig config;
  nn::Embedding wte{nullptr}, wpe{nullptr};
  nn::Dropout drop{nullptr};
  nn::ModuleList blocks{nullptr};
  LayerNorm ln{nullptr};
  nn::Linear head{nullptr};
  std::vector<std::function<Tensor(const Tensor&)>> bodies;
  bool checkpointed = false;
};
TORCH_MODULE(GPT);

std::unique_ptr<torch::optim::AdamW> make_optimizer(GPT& model) {
  std::unordered_map<std::string, Tensor> seen;
  std::vector<Tensor> decay, plain;
  std::vector<void*> done;
  for (auto& p : model->named_parameters()) {
    void* key = p.value().unsafeGetTensorImpl();
    if (std::find(done.begin(), done.end(), key) != done.end()) {
      continue;
    }
    done.push_back(key);
    (p.value().dim() >= 2 ? decay : plain).push_back(p.value());
  }
  report::exact("decay", decay.size());
  report::exact("plain", plain.size());
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(
      decay,
      std::make_unique<torch::optim::AdamWOptions>(
          torch::optim::AdamWOptions(1e-3).weight_decay(0.1).betas({0.9, 0.95})));
  groups.emplace_back(
      plain,
      std::make_unique<torch::optim::AdamWOptions>(
          torch::optim::AdamWOptions(1e-3).weight_decay(0).betas({0.9, 0.95})));
  return std::make_unique<torch::optim::AdamW>(groups, torch::optim::AdamWOptions(1e-3));
}

double rate_at(int step) {
  const double top = 3e-3, bottom = 3e-4;
  if (step < 3) {
    return top * (step + 1) / 3;
  }
  const double share = (step - 3) / 7.0;
  return bottom + 0.5 * (1 + std::cos(M_PI * share)) * (top - bottom);
}

Tensor generate(GPT& model, Tensor tokens, int64_t count, double temperature, int64_t top_k) {
  const torch::NoGradGuard guard;
  model->eval();
  for (int64_t i = 0; i < count; ++i) {
    const Tensor seen = tokens.size(1) <= model->config.block
        ? tokens
        : tokens.index({"...", torch::indexing::Slice(-model->config.block, torch::indexing::None)});
    Tensor logits = model->forward(seen).first.squeeze(1) / temperature;
    const auto top = logits.topk(top_k);
    logits.index_put_({logits < std::get<0>(top).index({torch::indexing::Slice(), -1}).unsqueeze(1)}, -INFINITY);
    tokens = torch::cat({tokens, torch::multinomial(logits.softmax(-1), 1)}, 1);
  }
  model->train();
  return tokens;
}

} // namespace

int main() {
  torch::manual_seed(1337);
  GPTConfig config;
  GPT model(config);
  std::ostringstream text;
  text << model;
  report::exact("model", text.str());
  for (const auto& p : model->named_parameters()) {
    report::close(p.key(), p.value());
  }
  for (const auto& b : model->named_buffers()) {
    report::shape(b.key(), b.value());
  }
  auto optimizer = make_optimizer(model);
  const Tensor corpus = (torch::arange(2000) * 7 + torch::arange(2000).square() % 11) % config.vocab;
  const int accumulate = 3;
  std::stringstream saved_model, saved_optimizer;
  for (int step = 0; step < 10; ++step) {
    for (auto& group : optimizer->param_groups()) {
      static_cast<torch::optim::AdamWOptions&>(group.options()).lr(rate_at(step));
    }
    model->checkpointed = step % 2 == 1;
    double total = 0;
    for (int micro = 0; micro < accumulate; ++micro) {
      const Tensor starts = torch::randint(corpus.size(0) - config.block - 1, {4});
      std::vector<Tensor> xs, ys;
      for (int64_t i = 0; i < starts.numel(); ++i) {
        const auto start = starts[i].item<int64_t>();
        xs.push_back(corpus.narrow(0, start, config.block));
        ys.push_back(corpus.narrow(0, start + 1, config.block));
      }
      Tensor loss = model->forward(torch::stack(xs), torch::stack(ys)).second / accumulate;
      loss.backward();
      total += loss.item().toDouble();
    }
    const double norm = nn::utils::clip_grad_norm_(model->parameters(), 1.0, 2.0, true);
    optimizer->step();
    optimizer->zero_grad(/*set_to_none=*/true);
    report::number("loss", total);
    report::number("norm", norm);
    report::number("lr", optimizer->param_groups()[1].options().get_lr());
    if (step == 5) {
      torch::save(model, saved_model);
      torch::save(*optimizer, saved_optimizer);
    }
  }
  const Tensor prompt = torch::zeros({2, 1}, torch::kLong);
  report::close("generated", generate(model, prompt, 20, 0.8, 5));
  GPT again(config);
  torch::load(again, saved_model);
  auto optimizer_again = make_optimizer(again);
  torch::load(*optimizer_again, saved_optimizer);
  report::exact("states", optimizer_again->state().size());
  double weight = 0;
  for (const auto& p : again->parameters()) {
    weight += p.abs().sum().item<double>();
  }
  report::number("weight", weight);
  const auto* key = again->wte->weight.unsafeGetTensorImpl();
  const auto& state =
      static_cast<torch::optim::AdamWParamState&>(*optimizer_again->state().at(const_cast<c10::TensorImpl*>(key)));
  report::exact("step", state.step());
  report::close("exp_avg_sq", state.exp_avg_sq());
  again->eval();
  const auto evaluated = again->forward(corpus.slice(0, 0, 16).unsqueeze(0), corpus.slice(0, 1, 17).unsqueeze(0));
  report::close("logits", evaluated.first);
  report::number("eval loss", evaluated.second.item<double>());
  try {
    again->forward(torch::zeros({1, 40}, torch::kLong));
  } catch (const c10::Error& e) {
    report::exact("error", std::string(e.what_without_backtrace()));
  }
}
