// Programs that are saved, and read back.
#include <catch2/catch.hpp>

#include <torch/export.h>
#include <torch/torch.h>

#include <map>
#include <sstream>

using Catch::Matchers::Contains;
using torch::ExportedProgram;
using torch::Tensor;

namespace {

std::string saved(const ExportedProgram& program) {
  std::ostringstream stream;
  program.save(stream);
  return stream.str();
}

ExportedProgram loaded(const std::string& bytes) {
  return torch::load_program(bytes.data(), bytes.size());
}

struct CounterImpl : torch::nn::Module {
  CounterImpl() {
    count = register_buffer("count", torch::zeros({2}));
    w = register_parameter("w", torch::randn({3, 2}));
    tied = register_parameter("tied", w);
    rows = register_buffer("rows", torch::arange(6.0).view({2, 3}).t());
  }
  Tensor forward(const Tensor& x) {
    count.add_(1);
    return x.mm(w.t()).mm(tied) * count + rows.sum(0);
  }
  Tensor count, w, tied, rows;
};
TORCH_MODULE(Counter);

/// The program read back.
ExportedProgram again(const ExportedProgram& program) {
  const std::string bytes = saved(program);
  ExportedProgram read = loaded(bytes);
  read.graph().lint();
  return read;
}

} // namespace

TEST_CASE("A saved program reads back bit for bit", "[capture][export]") {
  auto net = torch::nn::Sequential(
      torch::nn::Conv2d(3, 4, 3), torch::nn::BatchNorm2d(4), torch::nn::ReLU(), torch::nn::AdaptiveAvgPool2d(2),
      torch::nn::Flatten(), torch::nn::Linear(16, 5));
  net->eval();
  const auto program = torch::export_(net, {torch::randn({4, 3, 9, 11})}, {{"x"}, {}, {{"x", 0}, {"x", 2, 4, 64}}});
  const auto read = again(program);
  for (const int64_t n : {2, 3, 17}) {
    const auto x = torch::randn({n, 3, n + 5, 11});
    CHECK(read({x}).toTensor().equal(net->forward(x)));
    CHECK(read({}, {{"x", x}}).toTensor().equal(net->forward(x)));
  }
  CHECK(read.state_dict().size() == program.state_dict().size());
  for (const auto& [name, tensor] : program.state_dict()) {
    CHECK(read.state_dict().at(name).equal(tensor));
    CHECK(read.state_dict().at(name).requires_grad() == tensor.requires_grad());
  }
  CHECK(read.range_constraints().at("s1").max_val == 64);
  CHECK_THROWS_WITH(read({torch::randn({2, 3, 65, 11})}), Contains("must lie in"));
  CHECK(read.torch_version() == "2.15.0");
  // What is read is trained as any module.
  read({torch::randn({2, 3, 9, 11})}).toTensor().sum().backward();
  CHECK(read.module().named_parameters()["0.weight"].grad().defined());
  // And saved again, it is the same.
  CHECK(saved(loaded(saved(read))) == saved(read));
}

TEST_CASE("State that a program writes to and shares is saved as it is", "[capture][export]") {
  Counter net;
  const auto x = torch::randn({2, 2});
  const auto program = torch::export_(net, {x});
  const std::string bytes = saved(program);
  const auto read = loaded(bytes);
  for (int i = 0; i < 3; ++i) {
    CHECK(read({x}).toTensor().equal(net->forward(x)));
  }
  CHECK(read.module().named_buffers()["count"].equal(torch::full({2}, 3.0f)));
  CHECK(read.module().named_buffers()["rows"].strides() == net->rows.strides());
  CHECK(loaded(bytes).module().named_buffers()["count"].equal(torch::zeros({2})));
}

TEST_CASE("Containers, constants, lists and regions of programs are saved", "[capture][export]") {
  using Dict = std::map<std::string, Tensor>;
  const auto w = torch::randn({3, 3}).requires_grad_();
  const auto f = [&](const std::vector<Tensor>& xs, const Dict& d, int64_t n, const std::string& mode) {
    Tensor y;
    {
      torch::NoGradGuard no_grad;
      y = xs[0].mm(w);
    }
    const auto parts = xs[0].split(1, 0);
    return std::make_tuple(
        Dict{{"y", y}, {mode, xs[0].mm(w) * n}}, std::vector<Tensor>{parts[1], d.at("b").to(torch::kHalf)}, n, 2.5,
        torch::tensor({1.0f, 2.0f}) + xs[0].size(0), xs[0].topk(2));
  };
  const auto x = torch::randn({4, 3});
  c10::Dict<std::string, Tensor> d;
  d.insert("a", x);
  d.insert("b", x + 1);
  const auto program = torch::export_(
      f, std::make_tuple(std::vector<Tensor>{x}, Dict{{"a", x}, {"b", x + 1}}, int64_t(3), std::string("sum")),
      {{"xs", "d", "n", "mode"}});
  const auto read = again(program);
  const std::vector<c10::IValue> args{std::vector<Tensor>{x}, d, 3, "sum"};
  const auto want = program(args), got = read(args);
  const auto& a = want.toTupleRef().elements();
  const auto& b = got.toTupleRef().elements();
  REQUIRE(b.size() == 6);
  CHECK(b[0].toGenericDict().at("y").toTensor().equal(a[0].toGenericDict().at("y").toTensor()));
  CHECK_FALSE(b[0].toGenericDict().at("y").toTensor().requires_grad());
  CHECK(b[0].toGenericDict().at("sum").toTensor().requires_grad());
  CHECK(b[1].toTensorVector()[0].equal(a[1].toTensorVector()[0]));
  CHECK(b[1].toTensorVector()[1].equal(a[1].toTensorVector()[1]));
  CHECK(b[2].toInt() == 3);
  CHECK(b[3].toDouble() == 2.5);
  CHECK(b[4].toTensor().equal(a[4].toTensor()));
  CHECK(b[5].toTupleRef().elements()[1].toTensor().equal(a[5].toTupleRef().elements()[1].toTensor()));
  CHECK_THROWS_WITH(read({std::vector<Tensor>{x}, d, 4, "sum"}), Contains("to be equal to 3"));
  CHECK(saved(loaded(saved(read))) == saved(read));
}

TEST_CASE("Programs that archives cannot hold are refused with the node", "[capture][export]") {
  const auto x = torch::randn({2, 3});
  const auto program = torch::export_([](const Tensor& t) { return t.exp(); }, {x});
  torch::fx::Graph& graph = program.graph();
  torch::fx::Node* const exp = graph.find_nodes("aten::exp").front();
  {
    const auto here = graph.inserting_after(exp);
    torch::fx::Node* const sin = graph.call_operator("aten::sin", {exp});
    exp->replace_all_uses_with(sin);
  }
  CHECK_THROWS_WITH(saved(program), Contains("%sin (aten::sin)") && Contains("propagate_shapes()"));
  torch::fx::propagate_shapes(program.module(), {x});
  CHECK(again(program)({x}).toTensor().equal(x.exp().sin()));
  program.module().set_attr("text", "no tensor");
  const auto here = graph.inserting_after(exp);
  graph.get_attr("text");
  CHECK_THROWS_WITH(saved(program), Contains("'text' is no tensor"));
  CHECK_THROWS_WITH(program.save("/nowhere/net.pt2"), Contains("Parent directory /nowhere does not exist"));
}
