// The text form: what is printed reads back.
#include <catch2/catch.hpp>

#include <torch/fx.h>

#include <random>

using namespace torch::fx;
using Catch::Matchers::Contains;

namespace {

std::string again(const std::string& text) {
  auto graph = Graph::parse(text);
  graph->lint();
  return graph->to_string();
}

/// A graph of random operators with arguments of all kinds.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  std::shared_ptr<Graph> make(int nodes, int depth) {
    auto graph = Graph::create();
    std::vector<Dim> dims{2, 3, 1};
    if (pick(2) == 0) {
      const Dim s = graph->sizes().symbol("s0", 2, pick(2) == 0 ? std::optional<int64_t>() : 64);
      const Dim t = graph->sizes().symbol("s1");
      dims.push_back(s);
      dims.push_back(graph->sizes().make(SizeOp::Add, graph->sizes().make(SizeOp::Mul, s, 2), t));
      dims.push_back(graph->sizes().make(SizeOp::FloorDiv, graph->sizes().make(SizeOp::Sub, s, t), 3));
      dims.push_back(graph->sizes().make(SizeOp::Max, graph->sizes().make(SizeOp::CeilDiv, t, 4), s));
    }
    std::vector<Value> values;
    for (int i = 1 + pick(3); i > 0; --i) {
      Node* const node = graph->placeholder("x");
      TensorInfo info;
      info.dtype = pick(2) == 0 ? at::kFloat : at::kLong;
      for (int k = pick(4); k > 0; --k) {
        info.sizes.push_back(dims[pick(dims.size())]);
      }
      if (pick(2) == 0) {
        info.strides = info.sizes;
      }
      if (pick(3) > 0) {
        node->set_info(info);
      }
      values.push_back({node, 0});
    }
    for (int i = 0; i < nodes; ++i) {
      Node* const node = make_node(*graph, values, dims, depth);
      for (uint32_t k = 0; k < node->num_results(); ++k) {
        values.push_back({node, k});
      }
      if (pick(5) == 0) {
        node->set_module_path("layer.\"" + std::to_string(i) + "\"\n");
      }
    }
    std::vector<Arg> results;
    for (int i = pick(4); i > 0; --i) {
      results.emplace_back(values[pick(values.size())]);
    }
    results.push_back(constant());
    graph->output(results);
    return graph;
  }

 private:
  size_t pick(size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random_);
  }

  Arg constant() {
    switch (pick(12)) {
      case 0:
        return int64_t(pick(100)) - 50;
      case 1:
        return std::uniform_real_distribution<double>(-1e10, 1e10)(random_);
      case 2:
        return pick(2) == 0;
      case 3:
        return Arg();
      case 4:
        return "text \"with\" \\ \n\x01 signs";
      case 5:
        return c10::Device("cuda:1");
      case 6:
        return c10::complex<double>(1.5, pick(2) == 0 ? -2.25 : INFINITY);
      case 7:
        return std::numeric_limits<double>::quiet_NaN();
      case 8:
        return -std::numeric_limits<double>::infinity();
      case 9:
        return std::vector<int64_t>{1, 2, -3};
      case 10:
        return std::vector<double>{1, 0.1};
      default:
        return std::vector<Arg>{Arg(1), std::vector<Arg>{Arg("a"), Arg()}};
    }
  }

  Node* make_node(Graph& graph, const std::vector<Value>& values, const std::vector<Dim>& dims, int depth) {
    const auto value = [&] { return Arg(values[pick(values.size())]); };
    switch (pick(depth > 0 ? 12 : 11)) {
      case 0:
        return graph.call_operator(
            "aten::add.Tensor", {value(), value()}, {{"alpha", pick(2) == 0 ? Arg(1) : Arg(0.5)}});
      case 1:
        return graph.call_operator("aten::topk", {value(), 2, -1, true, pick(2) == 0});
      case 2:
        return graph.call_operator("aten::cat", {std::vector<Arg>{value(), value()}, 1});
      case 3:
        return graph.call_operator("aten::view", {value(), std::vector<Arg>{dims[pick(dims.size())], -1}});
      case 4:
        return graph.call_operator(
            "aten::to.dtype_layout", {value()},
            {{"dtype", at::kHalf}, {"layout", c10::kStrided}, {"device", c10::Device("cpu")}});
      case 5:
        return graph.call_operator("aten::clone", {value()}, {{"memory_format", at::MemoryFormat::ChannelsLast}});
      case 6:
        return graph.call_operator("aten::index.Tensor", {value(), std::vector<Arg>{Arg(), value()}});
      case 7:
        return graph.call_operator("aten::clamp", {value(), Arg(), pick(2) == 0 ? Arg(1) : Arg(-2.5)});
      case 8:
        return graph.get_attr("module.weight." + std::to_string(pick(5)));
      case 9:
        return graph.call_function("getitem", {std::vector<Arg>{value(), constant()}, 1});
      case 10:
        return graph.call_operator("aten::einsum", {"ij,jk->ik", std::vector<Arg>{value(), value()}}, {});
      default:
        return graph.call_function(
            "cond", {true, make(3, depth - 1), make(2, depth - 1), std::vector<Arg>{value()}}, pick(4));
    }
  }

  std::mt19937 random_;
};

} // namespace

TEST_CASE("Texts of graphs are printed as they are read", "[fx][text]") {
  const std::string texts[] = {
      "graph() {\n  return ()\n}",
      "graph[s0 in [2, 64], s1](%x: float32[s0, s1 * 2 + 1]) {\n  return (%x)\n}",
      "graph(%x: float16[2, 3] strides[1, 2] device(\"cuda:0\"), %y: int64[], %z: float32[4] sparse_coo) {\n"
      "  return (%x, [%y, 1], None)\n}",
      "graph(%x) {\n  %a: float32[2], ? = aten::sort(%x, descending=True)\n  return (%a.0)\n}",
      "graph(%x) {\n  %a = aten::to.dtype(%x, float64)\n  return (%a, 1.0, -0.0, 1e+300, nan, inf, -inf, True)\n}",
      "graph(%x) {\n  %a = aten::sum(%x, dtype=bfloat16) @\"a.b\"\n  return (%a, (1.0-2.0j), int[1, 2], "
      "str[\"a\\n\"])\n}",
      "graph(%p, %x) {\n  %c = cond -> 2(%p, graph(%a) {\n    return (%a, 1)\n  }, graph(%a) {\n    return (%a, 2)\n"
      "  }, [%x])\n  return (%c.0)\n}",
      "graph(%x) {\n  %a = aten::_assert_scalar(True, \"x\\x01y\")\n  return (device(\"cpu\"))\n}",
  };
  for (const std::string& text : texts) {
    CHECK(again(text) == text);
  }
}

TEST_CASE("Random graphs print and read back as they were", "[fx][text]") {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const auto graph = RandomGraph(seed).make(static_cast<int>(seed % 40), 2);
    graph->lint();
    const std::string text = graph->to_string();
    const auto read = Graph::parse(text);
    read->lint();
    REQUIRE(read->to_string() == text);
    REQUIRE(graph->copy()->to_string() == text);
  }
}

TEST_CASE("Damaged texts are refused with a place", "[fx][text]") {
  CHECK_THROWS_WITH(Graph::parse(""), Contains("line 1, column 1: 'graph' must stand here"));
  CHECK_THROWS_WITH(
      Graph::parse("graph(%x) {\n  %y = aten::relu(%z)\n}"), Contains("line 2, column 21: there is no node %z"));
  CHECK_THROWS_WITH(Graph::parse("graph(%x, %x) {"), Contains("stands for two nodes"));
  CHECK_THROWS_WITH(Graph::parse("graph() { return (99999999999999999999) }"), Contains("an integer of 64 bits"));
  CHECK_THROWS_WITH(Graph::parse("graph() { %a = aten::relu(1, 2) return () }"), Contains("expected at most 1"));
  CHECK_THROWS_WITH(Graph::parse("graph(%x: float33[]) { return () }"), Contains("'float33' is no dtype"));
  CHECK_THROWS_WITH(Graph::parse("graph(%x: float32[s0]) { return () }"), Contains("no size named 's0'"));
  CHECK_THROWS_WITH(Graph::parse("graph() { return (\"a) }"), Contains("a string does not end"));
  CHECK_THROWS_WITH(Graph::parse("graph() { return () } x"), Contains("text follows the graph"));
  CHECK_THROWS_WITH(
      Graph::parse("graph() { return (" + std::string(100000, '[') + ") }"), Contains("nested more than 64 deep"));
  CHECK_THROWS_WITH(
      Graph::parse("graph[s](%x: float32[" + std::string(100000, '(') + "]) { }"),
      Contains("nested more than 64 deep"));
}

TEST_CASE("Changed texts are read or refused", "[fx][text]") {
  std::mt19937 random(7);
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    const std::string text = RandomGraph(seed).make(12, 1)->to_string();
    for (int i = 0; i < 100; ++i) {
      std::string changed = text;
      for (size_t k = 1 + random() % 3; k > 0; --k) {
        changed[random() % changed.size()] = text[random() % text.size()];
      }
      try {
        Graph::parse(changed)->lint();
      } catch (const c10::Error&) {
      }
    }
  }
}

TEST_CASE("Sizes are folded, merged, evaluated and solved", "[fx][sizes]") {
  SizeTable table;
  const Dim s = table.symbol("s", 2, 10);
  const Dim t = table.symbol("t");
  CHECK(table.make(SizeOp::Add, 2, 3) == Dim(5));
  CHECK(table.make(SizeOp::Mul, s, 1) == s);
  CHECK(table.make(SizeOp::Add, s, t) == table.make(SizeOp::Add, t, s));
  const Dim e = table.make(SizeOp::Add, table.make(SizeOp::Mul, s, 3), 1);
  CHECK(table.print(e) == "s * 3 + 1");
  SymbolValues values;
  CHECK(table.bind(e, 13, values));
  CHECK(table.evaluate(s, values) == 4);
  CHECK_FALSE(table.bind(e, 14, values));
  CHECK(table.evaluate(table.make(SizeOp::Mod, t, 3), values) == std::nullopt);
  SymbolValues others;
  CHECK_THROWS_WITH(table.bind(s, 11, others), Contains("size s is 11 but must lie in [2, 10]"));
  CHECK_THROWS_WITH(table.make(SizeOp::FloorDiv, 1, 0), Contains("division of a size by zero"));
  CHECK_THROWS_WITH(table.make(SizeOp::Mul, INT64_MAX, 2), Contains("64 bits"));
  Dim deep = s;
  CHECK_THROWS_WITH(
      [&] {
        for (int i = 0; i < 1000; ++i) {
          deep = table.make(SizeOp::Mul, deep, deep);
        }
      }(),
      Contains("nested operations"));
}
