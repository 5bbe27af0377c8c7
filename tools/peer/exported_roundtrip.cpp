// Programs of this library for tools/peer/exported_roundtrip: `load` reads lines INPUT, OUTPUT with a tab between them
// and saves each program again; `cases FOLDER` exports functions and modules, saves them, and records calls of them.
#include <torch/export.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

using torch::ExportOptions;
using torch::ExportedProgram;
using torch::Tensor;
using torch::randn;

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t in, int64_t out, int64_t stride)
      : first(torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)),
        second(torch::nn::Conv2dOptions(out, out, 3).padding(1).bias(false)),
        norm1(out),
        norm2(out),
        down(torch::nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)) {
    register_module("first", first);
    register_module("second", second);
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("down", down);
  }
  Tensor forward(const Tensor& x) {
    return (norm2(second(norm1(first(x)).relu_())) + down(x)).relu();
  }
  torch::nn::Conv2d first, second;
  torch::nn::BatchNorm2d norm1, norm2;
  torch::nn::Conv2d down;
};
TORCH_MODULE(Block);

struct CellImpl : torch::nn::Module {
  CellImpl() : gates(4 + 6, 24) {
    register_module("gates", gates);
  }
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(const Tensor& x, const Tensor& h0, const Tensor& c0) {
    Tensor h = h0, c = c0;
    std::vector<Tensor> outputs;
    for (int64_t t = 0; t < x.size(1); ++t) {
      const auto parts = gates(torch::cat({x.select(1, t), h}, 1)).chunk(4, 1);
      c = parts[1].sigmoid() * c + parts[0].sigmoid() * parts[2].tanh();
      h = parts[3].sigmoid() * c.tanh();
      outputs.push_back(h);
    }
    return {torch::stack(outputs, 1), {h, c}};
  }
  torch::nn::Linear gates;
};
TORCH_MODULE(Cell);

struct TiedImpl : torch::nn::Module {
  TiedImpl() : embedding(10, 6), norm(torch::nn::LayerNormOptions({6})) {
    register_module("embedding", embedding);
    register_module("norm", norm);
    head = register_parameter("head", embedding->weight);
  }
  Tensor forward(const Tensor& tokens) {
    return torch::nn::functional::linear(norm(embedding(tokens)), head).log_softmax(-1);
  }
  torch::nn::Embedding embedding;
  torch::nn::LayerNorm norm;
  Tensor head;
};
TORCH_MODULE(Tied);

struct CounterImpl : torch::nn::Module {
  CounterImpl() {
    count = register_buffer("count", torch::zeros({1}, torch::kLong));
    cache = register_buffer("cache", torch::zeros({4, 2}));
    scale = register_parameter("scale", torch::ones({2}) * 1.5);
  }
  std::tuple<Tensor, Tensor> forward(const Tensor& x) {
    count.add_(1);
    cache.narrow(0, 1, 2).copy_(x);
    cache.mul_(2);
    return {cache.sum(0) * scale, count.clone()};
  }
  Tensor count, cache, scale;
};
TORCH_MODULE(Counter);

/// Saves a program, and a list of (arguments, result) beside it.
class Recorder {
 public:
  explicit Recorder(std::string folder) : folder_(std::move(folder)) {}

  void add(const std::string& name, const ExportedProgram& program, std::vector<std::vector<c10::IValue>> calls) {
    program.save(folder_ + "/" + name + ".pt2");
    // Of the file, so that the program that is called begins with the state that was saved.
    const ExportedProgram loaded = torch::load_program(folder_ + "/" + name + ".pt2");
    c10::List<c10::IValue> recorded(c10::AnyType::get());
    for (std::vector<c10::IValue>& args : calls) {
      const c10::IValue tuple = c10::IValue(c10::ivalue::Tuple::create(args));
      const c10::IValue copy = tuple.deepcopy();
      c10::IValue result = loaded(std::move(args)).deepcopy();
      recorded.push_back(c10::ivalue::Tuple::create({copy, std::move(result)}));
    }
    const std::vector<char> bytes = torch::pickle_save(recorded);
    std::ofstream(folder_ + "/" + name + ".calls", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    std::cout << name << std::endl;
  }

 private:
  std::string folder_;
};

void models(Recorder& recorder) {
  auto mlp = torch::nn::Sequential(
      torch::nn::Linear(4, 8), torch::nn::GELU(), torch::nn::Dropout(0.3), torch::nn::Linear(8, 3));
  mlp->eval();
  recorder.add("mlp", torch::export_(mlp, {randn({2, 4})}), {{randn({2, 4})}});
  recorder.add(
      "mlp_dynamic", torch::export_(mlp, {randn({2, 4})}, {{"x"}, {}, {{"x", 0}}}), {{randn({2, 4})}, {randn({9, 4})}});
  auto resnet = torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 7).stride(2).padding(3)), torch::nn::BatchNorm2d(8),
      torch::nn::ReLU(), torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2).padding(1)), Block(8, 8, 1),
      Block(8, 16, 2), torch::nn::AdaptiveAvgPool2d(1), torch::nn::Flatten(), torch::nn::Linear(16, 5));
  recorder.add(
      "resnet_train", torch::export_(resnet, {randn({2, 3, 32, 32})}),
      {{randn({2, 3, 32, 32})}, {randn({2, 3, 32, 32})}});
  resnet->eval();
  recorder.add("resnet", torch::export_(resnet, {randn({2, 3, 32, 32})}), {{randn({2, 3, 32, 32})}});
  recorder.add(
      "resnet_dynamic", torch::export_(resnet, {randn({2, 3, 32, 40})}, {{"x"}, {}, {{"x", 0}, {"x", 2}, {"x", 3}}}),
      {{randn({2, 3, 32, 40})}, {randn({5, 3, 45, 33})}});
  auto encoder = torch::nn::TransformerEncoder(
      torch::nn::TransformerEncoderLayer(
          torch::nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(32).dropout(0.0)),
      2);
  encoder->eval();
  const auto encode = [&](const Tensor& x) { return encoder->forward(x); };
  recorder.add(
      "transformer", torch::export_(encode, {randn({5, 2, 16})}, {{"x"}, {encoder.ptr()}}), {{randn({5, 2, 16})}});
  recorder.add(
      "transformer_dynamic",
      torch::export_(encode, {randn({5, 3, 16})}, {{"x"}, {encoder.ptr()}, {{"x", 0}, {"x", 1}}}),
      {{randn({5, 3, 16})}, {randn({11, 4, 16})}});
  recorder.add(
      "lstm_by_hand",
      torch::export_(
          Cell(), {randn({3, 5, 4}), randn({3, 6}), randn({3, 6})},
          {{"x", "h", "c"}, {}, {{"x", 0}, {"h", 0}, {"c", 0}}}),
      {{randn({3, 5, 4}), randn({3, 6}), randn({3, 6})}, {randn({7, 5, 4}), randn({7, 6}), randn({7, 6})}});
  const auto tokens = [](std::vector<int64_t> sizes) { return torch::randint(10, sizes, torch::kLong); };
  recorder.add(
      "tied", torch::export_(Tied(), {tokens({2, 4})}, {{"tokens"}, {}, {{"tokens", 1}}}),
      {{tokens({2, 4})}, {tokens({2, 7})}});
  recorder.add(
      "counter", torch::export_(Counter(), {randn({2, 2})}), {{randn({2, 2})}, {randn({2, 2})}, {randn({2, 2})}});
}

void functions(Recorder& recorder) {
  using Dict = std::map<std::string, Tensor>;
  const auto dict_of = [](std::vector<std::pair<std::string, Tensor>> entries) {
    c10::Dict<std::string, Tensor> dict;
    for (auto& [key, value] : entries) {
      dict.insert(key, value);
    }
    return dict;
  };
  const auto structures = [](const std::vector<Tensor>& xs, const Dict& d, double scale,
                             const std::optional<Tensor>& bias) {
    const auto sum = (xs[0] + d.at("b")) * scale;
    return std::make_tuple(
        Dict{{"sum", bias ? sum + *bias : sum}, {"cat", torch::cat({xs[0], xs[1]})}}, std::vector<Tensor>{xs[1]},
        int64_t(3), xs[0].size(0));
  };
  ExportOptions options;
  options.arg_names = {"xs", "d", "scale", "bias"};
  options.dynamic = {{"xs[0]", 0}, {"d['b']", 0}, {"xs[1]", 0}};
  recorder.add(
      "structures",
      torch::export_(
          structures,
          std::make_tuple(
              std::vector<Tensor>{randn({4, 3}), randn({5, 3})}, Dict{{"a", randn(2)}, {"b", randn({4, 3})}}, 2.5,
              std::optional<Tensor>()),
          options),
      {{std::vector<Tensor>{randn({8, 3}), randn({2, 3})}, dict_of({{"a", randn(2)}, {"b", randn({8, 3})}}), 2.5,
        c10::IValue()}});
  const auto numbers = [](const Tensor& x) {
    const int64_t n = x.size(0), m = x.size(1);
    return std::make_tuple(
        x.view({n * m}).view({m, n}).sum(1) / std::sqrt(static_cast<double>(n)), torch::zeros({n / 2 + 1, m + 3}),
        x * n, x / static_cast<double>(m), torch::arange(n - 1), n + m, x * (1.0 / static_cast<double>(n)));
  };
  recorder.add(
      "numbers", torch::export_(numbers, {randn({6, 4})}, {{"x"}, {}, {{"x", 0}, {"x", 1, 3, 64}}}),
      {{randn({6, 4})}, {randn({5, 9})}});
  const auto w = randn({4, 4}).requires_grad_();
  const auto regions = [&](const Tensor& x) {
    Tensor y;
    {
      torch::NoGradGuard no_grad;
      y = x.mm(w).relu();
      y.add_(1);
    }
    torch::amp::AutocastGuard autocast(torch::kCPU);
    return std::make_tuple(y, x.mm(w), (x.mm(w) + 1).exp());
  };
  recorder.add("regions", torch::export_(regions, {randn({2, 4})}), {{randn({2, 4})}});
  const auto writes = [](const Tensor& x, const Tensor& y) {
    x.add_(y);
    y[0].fill_(5);
    return x * 2;
  };
  recorder.add("writes", torch::export_(writes, {randn(3), randn(3)}), {{randn(3), randn(3)}});
  const auto lists = [](const Tensor& x, const Tensor& i) {
    const auto parts = x.split({2, 3}, 1);
    const auto [values, places] = x.topk(2);
    return std::make_tuple(
        torch::cat({parts[1], parts[0]}, 1), values, places, x.index({i}), torch::where(x > 0, x, -1.0),
        x.to(torch::kDouble), torch::stack(x.unbind(0)), torch::einsum("ij,kj->ik", {x, x}), x.std(0),
        torch::full({2, 2}, std::numeric_limits<double>::infinity()), torch::tensor({1.0f, 2.0f}),
        torch::complex(x, x).abs(), x.clamp_min(0).norm());
  };
  recorder.add(
      "lists", torch::export_(lists, {randn({4, 5}), torch::tensor({2, 0})}), {{randn({4, 5}), torch::tensor({3, 1})}});
  const auto image = [](const Tensor& x) {
    namespace F = torch::nn::functional;
    const auto up = F::interpolate(
        x,
        F::InterpolateFuncOptions()
            .scale_factor(std::vector<double>{2, 2})
            .mode(torch::kBilinear)
            .align_corners(false));
    return std::make_tuple(
        up, F::pad(x, F::PadFuncOptions({1, 2, 1, 1}).mode(torch::kReflect)),
        F::avg_pool2d(x, F::AvgPool2dFuncOptions(2)));
  };
  recorder.add(
      "image", torch::export_(image, {randn({1, 2, 6, 8})}, {{"x"}, {}, {{"x", 2}}}),
      {{randn({1, 2, 6, 8})}, {randn({1, 2, 10, 8})}});
}

int load() {
  int failed = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const size_t tab = line.find('\t');
    try {
      torch::load_program(line.substr(0, tab)).save(line.substr(tab + 1));
    } catch (const c10::Error& e) {
      ++failed;
      std::cout << line.substr(0, tab) << ": " << e.what_without_backtrace() << "\n";
    }
  }
  return failed == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  torch::manual_seed(0);
  if (argc == 2 && std::string(argv[1]) == "load") {
    return load();
  }
  if (argc == 3 && std::string(argv[1]) == "cases") {
    Recorder recorder(argv[2]);
    models(recorder);
    functions(recorder);
    return 0;
  }
  std::cerr << "usage: exported_roundtrip load | cases FOLDER\n";
  return 2;
}
