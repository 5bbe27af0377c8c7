// Random graphs, compiled and interpreted: the same bits.
#include "support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

using torch::fused::FusedGraph;
using torch::fx::Arg;
using torch::fx::Node;

namespace {

constexpr int64_t kMostElements = 60000;

/// Elements of tensors broadcast over each other.
int64_t broadcast_numel(const std::vector<at::Tensor>& tensors) {
  std::vector<int64_t> sizes(8, 1);
  for (const at::Tensor& tensor : tensors) {
    for (int64_t d = 1; d <= std::min<int64_t>(8, tensor.dim()); ++d) {
      sizes[8 - d] = std::max(sizes[8 - d], tensor.size(-d));
    }
  }
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<int64_t>());
}

/// Grows a graph node by node, each tried at once, so that what follows knows sizes and dtypes.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed), graph_(torch::fx::Graph::create()) {
    torch::manual_seed(seed);
    const int64_t rank = below(4), rows = std::vector<int64_t>{1, 2, 3, 5, 8, 33}[below(6)];
    const int64_t cols = std::vector<int64_t>{1, 2, 7, 16, 64, 300, 1100}[below(7)];
    std::vector<int64_t> sizes = rank == 0 ? std::vector<int64_t>{}
        : rank == 1                        ? std::vector<int64_t>{cols}
        : rank == 2                        ? std::vector<int64_t>{rows, cols}
                                           : std::vector<int64_t>{3, rows, cols};
    const int64_t count = 1 + below(4);
    for (int64_t i = 0; i < count; ++i) {
      add_input(sizes, i);
    }
    const int64_t nodes = 3 + below(25);
    for (int64_t i = 0; i < nodes; ++i) {
      add_node();
    }
    std::vector<Arg> results{Arg(values_.back().node)};
    for (int64_t i = below(3); i > 0; --i) {
      results.emplace_back(values_[below(static_cast<int64_t>(values_.size()))].node);
    }
    graph_->output(results);
  }

  const std::shared_ptr<torch::fx::Graph>& graph() const {
    return graph_;
  }
  const std::vector<at::Tensor>& inputs() const {
    return inputs_;
  }

 private:
  struct Value {
    Node* node;
    at::Tensor tensor;
  };

  int64_t below(int64_t n) {
    return static_cast<int64_t>(random_() % static_cast<uint32_t>(n));
  }

  void add_input(std::vector<int64_t> sizes, int64_t index) {
    static const at::ScalarType dtypes[] = {torch::kFloat, torch::kFloat,    torch::kFloat, torch::kDouble,
                                            torch::kHalf,  torch::kBFloat16, torch::kLong,  torch::kBool};
    for (int64_t& size : sizes) {
      size = below(6) == 0 && index > 0 ? 1 : size;
    }
    const at::ScalarType dtype = dtypes[below(8)];
    at::Tensor tensor = (torch::randn(sizes) * 2).to(dtype);
    if (tensor.dim() > 1 && below(4) == 0) {
      tensor = tensor.transpose(-1, -2).contiguous().transpose(-1, -2);
    } else if (tensor.dim() > 0 && below(6) == 0) {
      tensor = torch::stack({tensor, tensor}, -1).select(-1, 1);
    }
    inputs_.push_back(tensor);
    values_.push_back({graph_->placeholder("x" + std::to_string(index)), tensor});
  }

  const Value& any() {
    // Mostly what came last: chains.
    const auto n = static_cast<int64_t>(values_.size());
    return values_[below(3) != 0 ? n - 1 - below(std::min<int64_t>(n, 4)) : below(n)];
  }

  /// Adds a node if the operator takes such tensors; they are those of `args` in order.
  bool call(const char* name, const std::vector<Arg>& args, const std::vector<at::Tensor>& tensors) {
    if (broadcast_numel(tensors) > kMostElements) {
      return false;
    }
    const auto trial = torch::fx::Graph::create();
    std::vector<Arg> own;
    size_t next = 0;
    const auto placeholder = [&] { return Arg(trial->placeholder("t" + std::to_string(next++))); };
    for (const Arg& arg : args) {
      if (arg.is_list()) {
        std::vector<Arg> items;
        for (size_t i = 0; i < arg.list().size(); ++i) {
          items.push_back(placeholder());
        }
        own.emplace_back(std::move(items));
      } else {
        own.push_back(arg.is_value() ? placeholder() : arg);
      }
    }
    at::Tensor result;
    try {
      trial->output({Arg(trial->call_operator(name, own))});
      result = interpret(trial, tensors).at(0);
    } catch (const c10::Error&) {
      return false;
    }
    if (result.numel() > kMostElements || result.numel() == 0) {
      return false;
    }
    values_.push_back({graph_->call_operator(name, args), result});
    return true;
  }

  void add_node() {
    for (int tries = 0; tries < 20; ++tries) {
      const int64_t kind = below(16);
      if (kind < 5        ? add_unary()
              : kind < 9  ? add_binary()
              : kind < 11 ? add_view()
              : kind < 13 ? add_row()
              : kind < 14 ? add_cast()
              : kind < 15 ? add_where()
                          : add_other()) {
        return;
      }
    }
  }

  bool add_unary() {
    static const char* const names[] = {"aten::relu",     "aten::neg",        "aten::exp",      "aten::tanh",
                                        "aten::sigmoid",  "aten::abs",        "aten::silu",     "aten::sin",
                                        "aten::erf",      "aten::floor",      "aten::sqrt",     "aten::square",
                                        "aten::gelu",     "aten::reciprocal", "aten::log1p",    "aten::sign",
                                        "aten::hardtanh", "aten::leaky_relu", "aten::softplus", "aten::rsqrt"};
    const Value x = any();
    return call(names[below(20)], {x.node}, {x.tensor});
  }

  bool add_binary() {
    static const char* const names[] = {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor", "aten::div.Tensor",
                                        "aten::maximum",    "aten::minimum",    "aten::gt.Tensor",  "aten::eq.Tensor",
                                        "aten::atan2",      "aten::logical_and"};
    static const char* const with_numbers[] = {
        "aten::add.Tensor", "aten::mul.Tensor", "aten::sub.Tensor", "aten::div.Tensor", "aten::pow.Tensor_Scalar",
        "aten::lt.Scalar",  "aten::add.Scalar", "aten::clamp",      "aten::ge.Scalar"};
    const Value x = any(), y = any();
    if (below(3) == 0) {
      const double number = static_cast<double>(below(9) - 4) * 0.5;
      return below(2) == 0 ? call(with_numbers[below(9)], {x.node, number}, {x.tensor})
                           : call(with_numbers[below(9)], {x.node, below(4)}, {x.tensor});
    }
    return call(names[below(10)], {x.node, y.node}, {x.tensor, y.tensor});
  }

  bool add_view() {
    const Value x = any();
    const int64_t rank = x.tensor.dim();
    switch (below(8)) {
      case 0:
        return rank > 1 && call("aten::transpose.int", {x.node, below(rank), below(rank)}, {x.tensor});
      case 1:
        return call("aten::unsqueeze", {x.node, below(rank + 1)}, {x.tensor});
      case 2:
        return call("aten::squeeze", {x.node}, {x.tensor});
      case 3:
        return rank > 0 &&
            call("aten::slice.Tensor", {x.node, below(rank), below(3), 1 + below(200), 1 + below(3)}, {x.tensor});
      case 4:
        return rank > 0 && call("aten::select.int", {x.node, below(rank), -1}, {x.tensor});
      case 5:
        return call("aten::view", {x.node, std::vector<int64_t>{-1}}, {x.tensor});
      case 6: {
        std::vector<int64_t> sizes = x.tensor.sizes().vec();
        for (int64_t& size : sizes) {
          size = size == 1 && below(2) == 0 ? 4 : size;
        }
        sizes.insert(sizes.begin(), below(2) == 0 ? 2 : 1);
        return call("aten::expand", {x.node, sizes}, {x.tensor});
      }
      default:
        return rank > 0 && call("aten::view", {x.node, std::vector<int64_t>{2, -1}}, {x.tensor});
    }
  }

  bool add_row() {
    const Value x = any();
    if (x.tensor.dim() == 0) {
      return false;
    }
    const bool keeps = below(2) == 0;
    const std::vector<int64_t> last{below(5) == 0 ? 0 : -1};
    switch (below(7)) {
      case 0:
        return call("aten::_softmax", {x.node, -1, false}, {x.tensor});
      case 1:
        return call("aten::_log_softmax", {x.node, -1, false}, {x.tensor});
      case 2:
        return call("aten::sum.dim_IntList", {x.node, last, keeps}, {x.tensor});
      case 3:
        return call("aten::mean.dim", {x.node, last, keeps}, {x.tensor});
      case 4:
        return call("aten::amax", {x.node, last, keeps}, {x.tensor});
      case 5:
        return call("aten::var.correction", {x.node, last, 0, keeps}, {x.tensor});
      default:
        return call("aten::sum", {x.node}, {x.tensor});
    }
  }

  bool add_cast() {
    static const at::ScalarType dtypes[] = {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16,
                                            torch::kLong,  torch::kInt,    torch::kBool};
    const Value x = any();
    return call("aten::_to_copy", {x.node, static_cast<int64_t>(dtypes[below(7)])}, {x.tensor});
  }

  bool add_where() {
    for (const Value& mask : values_) {
      if (mask.tensor.scalar_type() == torch::kBool) {
        const Value m = mask, x = any(), y = any();
        return call("aten::where.self", {m.node, x.node, y.node}, {m.tensor, x.tensor, y.tensor});
      }
    }
    return false;
  }

  bool add_other() {
    const Value x = any();
    switch (below(4)) {
      case 0:
        return x.tensor.dim() > 0 &&
            call("aten::cat", {std::vector<Arg>{x.node, x.node}, x.tensor.dim() - 1}, {x.tensor, x.tensor});
      case 1:
        return call("aten::clone", {x.node, static_cast<int64_t>(at::MemoryFormat::Contiguous)}, {x.tensor});
      case 2:
        return call("aten::zeros_like", {x.node}, {x.tensor});
      default:
        return x.tensor.dim() > 0 && call("aten::cumsum", {x.node, 0}, {x.tensor});
    }
  }

  std::mt19937 random_;
  std::shared_ptr<torch::fx::Graph> graph_;
  std::vector<Value> values_;
  std::vector<at::Tensor> inputs_;
};

bool is_expanded(const at::Tensor& tensor) {
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) > 1 && tensor.stride(d) == 0) {
      return true;
    }
  }
  return false;
}

/// What is wrong with one seed; empty if nothing is.
std::string differs(uint32_t seed) {
  const RandomGraph random(seed);
  const auto graph = random.graph()->copy();
  torch::fx::GraphModule module(graph);
  torch::fx::propagate_shapes(module, std::vector<c10::IValue>(random.inputs().begin(), random.inputs().end()));
  const auto want = interpret(graph, random.inputs());
  const FusedGraph compiled(graph);
  const auto got = run(compiled, random.inputs());
  for (size_t i = 0; i < want.size(); ++i) {
    // An expanded result becomes one without gaps.
    const at::Tensor expected = is_expanded(want[i]) ? want[i].contiguous() : want[i];
    if (!same_bits(got[i], expected)) {
      return "seed " + std::to_string(seed) + " result " + std::to_string(i) + "\n" + graph->to_string() + "\n" +
          compiled.to_string();
    }
  }
  return "";
}

void run_seeds(uint32_t first, uint32_t count) {
  size_t failed = 0;
  for (uint32_t seed = first; seed < first + count && failed < 3; ++seed) {
    INFO("seed " << seed);
    const std::string what = differs(seed);
    INFO(what);
    CHECK(what.empty());
    failed += what.empty() ? 0 : 1;
  }
}

} // namespace

TEST_CASE("Random graphs give the bits of their operators", "[compile][fuzz]") {
  run_seeds(1, 400);
}

TEST_CASE("Very many random graphs give the bits of their operators", "[slow][compile][fuzz]") {
  const char *const first = std::getenv("TENSOR_TEST_SEED"), *const count = std::getenv("TENSOR_TEST_GRAPHS");
  run_seeds(
      first ? static_cast<uint32_t>(std::strtoul(first, nullptr, 10)) : 1000,
      count ? static_cast<uint32_t>(std::strtoul(count, nullptr, 10)) : 100000);
}
