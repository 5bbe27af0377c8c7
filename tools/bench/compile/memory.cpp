// The most memory that a training step takes, eager and compiled: bytes that tensors hold at the peak of one step
// beyond what they hold when it begins (parameters, gradients' buffers), by budget. One line for each net.
#include <torch/compile.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

namespace nn = torch::nn;
using torch::Tensor;

/// Counts what is allocated, and the peak.
class Counting final : public c10::Allocator {
 public:
  explicit Counting(c10::Allocator* inner) : inner_(inner) {}

  c10::DataPtr allocate(size_t bytes) override {
    c10::DataPtr data = inner_->allocate(bytes);
    void* const pointer = data.get();
    const size_t now = held_ += bytes;
    peak_ = std::max(peak_.load(), now);
    return {pointer, new Block{std::move(data), this, bytes}, &Counting::give_back, c10::Device(c10::kCPU)};
  }
  void copy_data(void* to, const void* from, size_t count) const override {
    inner_->copy_data(to, from, count);
  }
  /// Peaks are taken from now on.
  size_t restart() {
    return peak_ = held_.load();
  }
  size_t peak() const {
    return peak_;
  }

 private:
  struct Block {
    c10::DataPtr data;
    Counting* owner;
    size_t bytes;
  };
  static void give_back(void* context) {
    auto* const block = static_cast<Block*>(context);
    block->owner->held_ -= block->bytes;
    delete block;
  }

  c10::Allocator* inner_;
  std::atomic<size_t> held_{0}, peak_{0};
};

/// Embedding, blocks of attention and perceptron with normalization before, and the loss over the vocabulary.
struct LanguageModelImpl : nn::Module {
  LanguageModelImpl()
      : tokens(register_module("tokens", nn::Embedding(512, kWidth))),
        head(register_module("head", nn::Linear(kWidth, 512))),
        last(register_module("last", nn::LayerNorm(nn::LayerNormOptions({kWidth})))) {
    for (int i = 0; i < 4; ++i) {
      Block block{
          nn::LayerNorm(nn::LayerNormOptions({kWidth})),
          nn::LayerNorm(nn::LayerNormOptions({kWidth})),
          nn::Linear(kWidth, 3 * kWidth),
          nn::Linear(kWidth, kWidth),
          nn::Linear(kWidth, 4 * kWidth),
          nn::Linear(4 * kWidth, kWidth)};
      const std::string name = "block" + std::to_string(i);
      register_module(name + "_norm1", block.norm1);
      register_module(name + "_norm2", block.norm2);
      register_module(name + "_qkv", block.qkv);
      register_module(name + "_out", block.out);
      register_module(name + "_up", block.up);
      register_module(name + "_down", block.down);
      blocks.push_back(block);
    }
  }

  Tensor forward(const Tensor& ids) {
    Tensor x = tokens(ids);
    for (Block& block : blocks) {
      const auto parts = block.qkv(block.norm1(x)).chunk(3, -1);
      const auto split = [&](const Tensor& t) {
        return t.view({t.size(0), t.size(1), kHeads, kWidth / kHeads}).transpose(1, 2);
      };
      const Tensor scores = split(parts[0]).matmul(split(parts[1]).transpose(-2, -1)) / 5.657;
      const Tensor mixed = torch::dropout(scores.softmax(-1), 0.1, true).matmul(split(parts[2]));
      x = x + torch::dropout(block.out(mixed.transpose(1, 2).reshape(x.sizes())), 0.1, true);
      x = x + torch::dropout(block.down(torch::gelu(block.up(block.norm2(x)))), 0.1, true);
    }
    return head(last(x));
  }

  static constexpr int64_t kWidth = 128, kHeads = 4;
  struct Block {
    nn::LayerNorm norm1, norm2;
    nn::Linear qkv, out, up, down;
  };
  nn::Embedding tokens;
  nn::Linear head;
  nn::LayerNorm last;
  std::vector<Block> blocks;
};
TORCH_MODULE(LanguageModel);

nn::Sequential perceptron() {
  return nn::Sequential(
      nn::Linear(256, 512), nn::LayerNorm(nn::LayerNormOptions({512})), nn::GELU(), nn::Dropout(0.1),
      nn::Linear(512, 512), nn::LayerNorm(nn::LayerNormOptions({512})), nn::GELU(), nn::Dropout(0.1),
      nn::Linear(512, 512), nn::SiLU(), nn::Linear(512, 10));
}

nn::Sequential convolutions() {
  const auto conv = [](int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
  };
  return nn::Sequential(
      conv(3, 16), nn::BatchNorm2d(16), nn::SiLU(), conv(16, 32), nn::BatchNorm2d(32), nn::SiLU(), nn::MaxPool2d(2),
      conv(32, 64), nn::BatchNorm2d(64), nn::SiLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(64, 10));
}

/// MiB at the peak of the second step that runs as a graph.
template <class Loss>
double peak_mib(Counting& counter, const std::vector<Tensor>& parameters, const Loss& loss) {
  size_t before = 0;
  for (int step = 0; step < 3; ++step) {
    for (Tensor parameter : parameters) {
      parameter.mutable_grad() = Tensor();
    }
    before = counter.restart();
    loss().backward();
  }
  return static_cast<double>(counter.peak() - before) / (1 << 20);
}

template <class Net>
void measure(
    Counting& counter, const char* backend, const char* name, Net net, const Tensor& input, const Tensor& target) {
  const auto loss = [&](const Tensor& x, const Tensor& y) {
    const Tensor scores = net->forward(x);
    return torch::cross_entropy_loss(scores.reshape({-1, scores.size(-1)}), y.reshape({-1}));
  };
  const double eager = peak_mib(counter, net->parameters(), [&] { return loss(input, target); });
  std::printf("%-24s eager %8.2f MiB", name, eager);
  for (const double budget : {1.0, 0.5, 0.25, 0.0}) {
    torch::CompileOptions options;
    options.backend = backend;
    options.memory_budget = budget;
    options.check_calls = 0;
    options.modules = {net.ptr()};
    const auto compiled = torch::compile(loss, options);
    const double mib = peak_mib(counter, net->parameters(), [&] { return compiled(input, target); });
    std::printf("   budget %.2f %8.2f (%+.0f %%)", budget, mib, 100 * (mib / eager - 1));
    if (!compiled.core().last_not_compiled().empty()) {
      std::printf(" not compiled: %s", compiled.core().last_not_compiled().c_str());
    }
  }
  std::printf("\n");
}

} // namespace

/// With the name of a backend, "fused" without one, and how many times as large batches are.
int main(int argc, char** argv) {
  const char* const backend = argc > 1 ? argv[1] : "fused";
  const int64_t times = argc > 2 ? std::atoi(argv[2]) : 1;
  at::set_num_threads(1);
  static auto* const counter = new Counting(c10::GetAllocator(c10::kCPU));
  c10::SetAllocator(c10::kCPU, counter, 100);
  torch::manual_seed(0);
  measure(
      *counter, backend, "perceptron", perceptron(), torch::rand({512 * times, 256}),
      torch::randint(10, {512 * times}));
  measure(
      *counter, backend, "convolutions", convolutions(), torch::rand({8 * times, 3, 48, 48}),
      torch::randint(10, {8 * times}));
  measure(
      *counter, backend, "language model", LanguageModel(), torch::randint(512, {8 * times, 64}),
      torch::randint(512, {8 * times, 64}));
}
