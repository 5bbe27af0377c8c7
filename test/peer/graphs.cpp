// Nets on graphs: sparse adjacency, attention over edges, pooling of batches, and a segment sum that is an operator of
// the program, with kernels for CPU and Meta and a derivative by Function.
#include <torch/library.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "report.h"

using namespace torch::indexing;
using torch::Tensor;

namespace {

Tensor scatter_mean(const Tensor& source, const Tensor& index, int64_t count) {
  const auto sums = torch::zeros({count, source.size(1)}, source.options()).index_add(0, index, source);
  const auto sizes = torch::zeros({count}, source.options())
                         .scatter_add_(0, index, torch::ones_like(index, source.options()))
                         .clamp_min_(1);
  return sums / sizes.unsqueeze(-1);
}

Tensor scatter_softmax(const Tensor& source, const Tensor& index, int64_t count) {
  const auto largest = torch::full({count}, -1e30).scatter_reduce(0, index, source.detach(), "amax", true);
  const auto powers = (source - largest.index_select(0, index)).exp();
  const auto sums = torch::zeros({count}).index_put({index}, powers, /*accumulate=*/true);
  return powers / sums.gather(0, index);
}

struct GCNConvImpl : torch::nn::Module {
  Tensor weight, bias;
  GCNConvImpl(int64_t in, int64_t out, bool with_bias = true) {
    weight = register_parameter("weight", torch::empty({in, out}));
    if (with_bias) {
      bias = register_parameter("bias", torch::empty(out));
    } else {
      register_parameter("bias", {}, false);
    }
    const auto bound = 1. / std::sqrt(weight.size(1));
    torch::nn::init::uniform_(weight, -bound, bound);
    if (bias.defined()) {
      bias.data().uniform_(-bound, bound);
    }
  }
  Tensor forward(const Tensor& x, const Tensor& adjacency) {
    const auto result = torch::mm(adjacency, x.mm(weight));
    return bias.defined() ? result + bias : result;
  }
};
TORCH_MODULE(GCNConv);

struct GATImpl : torch::nn::Module {
  torch::nn::Linear linear{nullptr};
  Tensor source, target;
  GATImpl(int64_t in, int64_t out) {
    linear = register_module("linear", torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false)));
    source = register_parameter("source", torch::nn::init::xavier_uniform_(torch::empty({1, out})));
    target = register_parameter(
        "target", torch::nn::init::kaiming_uniform_(torch::empty({1, out}), 0.2, torch::kFanIn, torch::kLeakyReLU));
  }
  Tensor forward(Tensor x, const Tensor& edges) {
    x = linear(x);
    const auto from = edges[0], to = edges[1];
    auto scores = (x * source).sum(-1).index({from}) + (x * target).sum(-1).index({to});
    scores = scatter_softmax(torch::leaky_relu(scores, 0.2), to, x.size(0));
    return torch::zeros_like(x).index_add_(0, to, x.index_select(0, from) * scores.unsqueeze(-1));
  }
};
TORCH_MODULE(GAT);

Tensor normalized_adjacency(const Tensor& edges, int64_t nodes) {
  const auto all = torch::cat({edges, torch::arange(nodes).repeat({2, 1})}, 1);
  const auto adjacency = torch::sparse_coo_tensor(all, torch::ones({all.size(1)}), {nodes, nodes}).coalesce();
  auto scale = torch::_sparse_sum(adjacency, 1).to_dense().pow(-0.5);
  scale.masked_fill_(scale == std::numeric_limits<float>::infinity(), 0);
  const auto places = adjacency.indices();
  const auto values = scale.index({places[0]}) * adjacency.values() * scale.index({places[1]});
  return torch::sparse_coo_tensor(places, values, adjacency.sizes(), adjacency.options());
}

std::tuple<Tensor, Tensor> compressed(const Tensor& edges, int64_t nodes) {
  const auto order = std::get<1>((edges[0] * nodes + edges[1]).sort());
  const auto rows = edges[0].index_select(0, order), columns = edges[1].index_select(0, order);
  auto starts = torch::empty({nodes + 1}, edges.options());
  const auto* row = rows.data_ptr<int64_t>();
  auto* start = starts.data_ptr<int64_t>();
  const int64_t count = rows.numel();
  int64_t current = 0;
  start[0] = 0;
  for (int64_t i = 0; i < count; ++i) {
    while (current < row[i]) {
      start[++current] = i;
    }
  }
  while (current < nodes) {
    start[++current] = count;
  }
  return std::make_tuple(starts, columns);
}

// The operator.

Tensor segment_sum_cpu(const Tensor& source, const Tensor& starts) {
  TORCH_CHECK(starts.dim() == 1, "starts must be 1-D, got ", starts.dim());
  auto result = torch::zeros({starts.numel() - 1, source.size(1)}, source.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, source.scalar_type(), "segment_sum", [&] {
    const auto from = source.accessor<scalar_t, 2>();
    auto to = result.accessor<scalar_t, 2>();
    const auto start = starts.accessor<int64_t, 1>();
    at::parallel_for(0, result.size(0), 1, [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i) {
        for (auto j = start[i]; j < start[i + 1]; ++j) {
          for (int64_t k = 0; k < from.size(1); ++k) {
            to[i][k] += from[j][k];
          }
        }
      }
    });
  });
  return result;
}

Tensor segment_sum_meta(const Tensor& source, const Tensor& starts) {
  return source.new_empty({starts.size(0) - 1, source.size(1)});
}

Tensor segment_sum(const Tensor& source, const Tensor& starts) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("peer_graphs::segment_sum", "")
                             .typed<Tensor(const Tensor&, const Tensor&)>();
  return op.call(source, starts);
}

struct SegmentSum : public torch::autograd::Function<SegmentSum> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor source, Tensor starts) {
    ctx->save_for_backward({starts});
    at::AutoDispatchBelowADInplaceOrView guard;
    return segment_sum(source, starts);
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    return {grads[0].repeat_interleave(ctx->get_saved_variables()[0].diff(), 0), Tensor()};
  }
};

Tensor segment_sum_autograd(const Tensor& source, const Tensor& starts) {
  return SegmentSum::apply(source, starts);
}

// A vector of tensors is handed through, and no gradient flows to its elements.
struct Stacked : public torch::autograd::Function<Stacked> {
  static Tensor forward(
      torch::autograd::AutogradContext* ctx, const Tensor& x, const std::vector<Tensor>& rows, double scale) {
    ctx->save_for_backward(rows);
    ctx->saved_data["scale"] = scale;
    return x * torch::stack(rows).sum(0) * scale;
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto rows = ctx->get_saved_variables();
    return {grads[0] * torch::stack(rows).sum(0) * ctx->saved_data["scale"].toDouble(), Tensor(), Tensor()};
  }
};

TORCH_LIBRARY(peer_graphs, m) {
  m.def("segment_sum(Tensor source, Tensor starts) -> Tensor");
  m.def(TORCH_SELECTIVE_SCHEMA(
      "peer_graphs::scaled(Tensor x, int n=2, *, float? s=None, str mode=\"a\") -> (Tensor, int)"));
}
TORCH_LIBRARY_IMPL(peer_graphs, CPU, m) {
  m.impl("segment_sum", segment_sum_cpu);
  m.impl("scaled", [](const Tensor& x, int64_t n, c10::optional<double> s, c10::string_view mode) {
    return std::make_tuple(x * n * s.value_or(1.0), static_cast<int64_t>(mode.size()));
  });
}
TORCH_LIBRARY_IMPL(peer_graphs, AutogradCPU, m) {
  m.impl("segment_sum", TORCH_FN(segment_sum_autograd));
}
TORCH_LIBRARY_IMPL(peer_graphs, Meta, m) {
  m.impl(TORCH_SELECTIVE_NAME("peer_graphs::segment_sum"), &segment_sum_meta);
}
TORCH_LIBRARY_FRAGMENT(peer_graphs, m) {
  m.def(
      "counts(Tensor[] xs, int[2] k=[1,1], bool? b=None, Scalar a=1, ScalarType? d=None, Device? dev=None) -> int[]",
      [](const std::vector<Tensor>& xs, std::vector<int64_t> k, c10::optional<bool> b, const at::Scalar& a,
         c10::optional<at::ScalarType>, c10::optional<at::Device>) {
        std::vector<int64_t> result;
        for (const auto& x : xs) {
          result.push_back(x.numel());
        }
        result.insert(result.end(), k.begin(), k.end());
        result.push_back(b.has_value());
        result.push_back(a.toLong());
        return result;
      });
}

void nets(const Tensor& edges) {
  torch::manual_seed(8);
  const auto x = torch::randn({6, 4});
  const auto labels = torch::tensor({0, 0, 1, 1, 2, 2}), batch = torch::tensor({0, 0, 0, 1, 1, 1});
  const auto adjacency = normalized_adjacency(edges, 6);
  report::exact("adjacency", adjacency.is_coalesced());
  report::number("entries", adjacency._nnz());
  report::close("adjacency", adjacency.to_dense());
  GCNConv first(4, 8), second(8, 3, false);
  torch::nn::ModuleList layers(first, second);
  std::cout << layers << "\n";
  torch::optim::Adam optimizer(layers->parameters(), torch::optim::AdamOptions(0.05).weight_decay(5e-4));
  for (int i = 0; i < 20; ++i) {
    optimizer.zero_grad();
    const auto scores = torch::log_softmax(second(torch::relu(first(x, adjacency)), adjacency), 1);
    const auto known = torch::tensor({true, false, true, true, true, false});
    const auto loss = torch::nll_loss(scores.index({known}), labels.index({known}));
    loss.backward();
    optimizer.step();
    report::number("loss", loss.item<float>());
    report::exact("right", scores.argmax(1).eq(labels).sum().item<int64_t>());
  }
  GAT attention(4, 5);
  const auto pooled = scatter_mean(attention(x, edges), batch, 2);
  pooled.square().sum().backward();
  report::close("pooled", pooled);
  report::close("gradient of the sources", attention->source.grad());
}

void operators(const Tensor& edges) {
  torch::manual_seed(9);
  const auto [starts, columns] = compressed(edges, 6);
  report::exact("starts", starts);
  report::exact("columns", columns);
  const auto source = torch::randn({10, 2}, torch::requires_grad());
  const auto sums = segment_sum(source, starts);
  (sums * torch::arange(12.).view({6, 2})).sum().backward();
  report::close("sums", sums);
  report::close("gradient", source.grad());
  report::shape("meta", segment_sum(torch::empty({10, 2}, torch::kMeta), starts.to(torch::kMeta)));
  report::throws("integers", [&] { segment_sum(source.to(torch::kInt), starts); });
  report::throws("starts of two dimensions", [&] { segment_sum(source, starts.unsqueeze(0)); });

  const auto scaled = c10::Dispatcher::singleton().findSchemaOrThrow("peer_graphs::scaled", "");
  torch::jit::Stack stack{torch::ones({2})};
  torch::jit::push(stack, 3, c10::IValue(), "abc");
  scaled.callBoxed(&stack);
  report::exact("length", torch::jit::pop(stack).toInt());
  report::exact("scaled", stack[0].toTensor());
  report::exact("schema", scaled.schema());
  for (const auto& argument : scaled.schema().arguments()) {
    report::exact(argument.name(), argument.type()->str());
  }
  const auto counts = c10::Dispatcher::singleton().findOp({"peer_graphs::counts", ""});
  stack.clear();
  torch::jit::push(
      stack, c10::List<Tensor>({torch::ones(3), torch::ones({2, 2})}), std::vector<int64_t>{7, 8}, true, 5,
      c10::nullopt, torch::nullopt);
  counts->callBoxed(stack);
  report::exact("counts", stack[0].toIntVector());
  report::exact("counts", counts->schema());

  const auto x = torch::ones({2}, torch::requires_grad());
  const std::vector<Tensor> rows{torch::ones({2}, torch::requires_grad()), torch::arange(2.)};
  const auto stacked = Stacked::apply(x, rows, 0.5);
  stacked.sum().backward();
  report::close("stacked", stacked);
  report::close("gradient of x", x.grad());
  report::exact("gradient of a row", rows[0].grad().defined());
}

} // namespace

int main() {
  const auto edges = torch::tensor({{0, 1, 1, 2, 3, 4, 4, 5, 0, 2}, {1, 0, 2, 1, 4, 3, 5, 4, 2, 0}});
  nets(edges);
  operators(edges);
  return 0;
}
