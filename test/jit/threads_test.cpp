// One compilation unit used by many threads: first calls, definitions, copies.
#include <catch2/catch.hpp>

#include <csrc/jit/frontend/syntax_parser.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>
#include <torch/script.h>

#include <atomic>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using Catch::Matchers::Contains;

namespace {

constexpr int kThreads = 8;

// Runs `work(i)` in as many threads, which begin together. Gives the errors.
std::vector<std::string> together(int count, const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::vector<std::string> errors(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < count) {
        std::this_thread::yield();
      }
      try {
        work(i);
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(i)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return errors;
}

const std::vector<std::string> kNoErrors(kThreads);

std::string saved_net() {
  torch::jit::Module net("Net");
  for (int i = 0; i < 4; ++i) {
    torch::jit::Module layer("Layer", net._ivalue()->compilation_unit(), true);
    layer.register_parameter("weight", torch::ones({3, 3}), false);
    layer.define(R"(
def halve(self, x: Tensor) -> Tensor:
    return x / 2
def forward(self, x: Tensor, times: int = 2) -> Tensor:
    for _ in range(times):
        x = self.halve(x @ self.weight)
    return x
)");
    net.register_module("layer" + std::to_string(i), layer);
  }
  net.define(R"(
def forward(self, x: Tensor) -> Tensor:
    for layer in [1, 2]:
        x = self.layer0(x) + self.layer1(x) + self.layer2(x) + self.layer3(x)
    return torch.relu(x) if bool(x.sum() > 0) else x
)");
  std::ostringstream out;
  net.save(out);
  return out.str();
}

} // namespace

TEST_CASE("Threads make the first call of one loaded module while another defines functions", "[jit][threads]") {
  const std::string archive = saved_net();
  std::istringstream in(archive);
  torch::jit::Module expecting = torch::jit::load(in);
  const torch::Tensor x = torch::ones({2, 3});
  const torch::Tensor expected = expecting.forward({x}).toTensor();
  for (int round = 0; round < 4; ++round) {
    std::istringstream again(archive);
    torch::jit::Module net = torch::jit::load(again);
    const auto errors = together(kThreads, [&](int i) {
      if (i == 0) {
        const auto unit = net._ivalue()->compilation_unit();
        for (int n = 0; n < 10; ++n) {
          const std::string name = "late" + std::to_string(n);
          unit->define(
              std::nullopt, "def " + name + "(n: int) -> int:\n    return n * 2\n", torch::jit::nativeResolver(),
              nullptr);
          TORCH_CHECK(unit->run_method(name, n).toInt() == 2 * n);
        }
        return;
      }
      torch::jit::Module handle = net;
      for (int n = 0; n < 5; ++n) {
        TORCH_CHECK(torch::equal(handle.forward({x}).toTensor(), expected));
      }
      TORCH_CHECK(handle.get_method("forward").num_inputs() == 2);
    });
    CHECK(errors == kNoErrors);
  }
}

TEST_CASE("Functions that need each other are compiled from many threads", "[jit][threads]") {
  // Each thread begins at another place of a chain that all of them need.
  std::string source;
  for (int i = 0; i < kThreads; ++i) {
    const std::string next = i + 1 < kThreads ? "f" + std::to_string(i + 1) + "(n) + 1" : "n";
    source += "def f" + std::to_string(i) + "(n: int) -> int:\n    return " + next + "\n";
  }
  const auto define_lazily = [](torch::jit::CompilationUnit& unit, const std::string& text) {
    torch::jit::SyntaxParser parser(std::make_shared<torch::jit::Source>(text, "<string>", 1));
    std::vector<std::shared_ptr<const torch::jit::Syntax>> definitions;
    while (parser.lexer().cur().kind != torch::jit::TK_EOF) {
      definitions.push_back(parser.parseFunction());
    }
    const std::vector<torch::jit::ResolverPtr> resolvers(definitions.size(), torch::jit::nativeResolver());
    return unit.define(std::nullopt, definitions, resolvers, nullptr, /*lazily=*/true);
  };
  for (int round = 0; round < 4; ++round) {
    const auto unit = std::make_shared<torch::jit::CompilationUnit>();
    const auto functions = define_lazily(*unit, source);
    const auto errors = together(kThreads, [&](int i) {
      const int64_t result = (*functions.at(static_cast<size_t>(i)))({5}).toInt();
      TORCH_CHECK(result == 5 + kThreads - 1 - i);
    });
    CHECK(errors == kNoErrors);

    // Two that call each other are refused in every thread, and none waits for ever.
    const auto circle = define_lazily(
        *unit,
        "def even(n: int) -> bool:\n    return not odd(n - 1)\ndef odd(n: int) -> bool:\n    return not even(n - 1)\n");
    for (const std::string& error : together(kThreads, [&](int i) { (*circle.at(static_cast<size_t>(i % 2)))({3}); })) {
      CHECK_THAT(error, Contains("is called recursively. Recursive calls are not supported"));
    }
  }
}

namespace {

// Knows the functions of another unit.
struct OtherUnit final : torch::jit::Resolver {
  explicit OtherUnit(const torch::jit::CompilationUnit& unit) : unit(unit) {}

  std::shared_ptr<torch::jit::SugaredValue> resolveValue(
      const std::string& name, torch::jit::GraphFunction& method, const torch::jit::SourceRange& range) override {
    torch::jit::Function* function = unit.find_function(name);
    return function ? std::make_shared<torch::jit::FunctionValue>(function)
                    : torch::jit::nativeResolver()->resolveValue(name, method, range);
  }

  const torch::jit::CompilationUnit& unit;
};

// Functions that are compiled when they are first called. Even ones belong to the first unit, odd ones to the second;
// each calls the one after the next but one.
std::vector<torch::jit::Function*> woven(torch::jit::CompilationUnit (&units)[2], int length) {
  std::vector<torch::jit::Function*> functions;
  for (int i = 0; i < length; ++i) {
    const std::string next = i + 3 < length ? "f" + std::to_string(i + 3) + "(n) + 1" : "n";
    torch::jit::SyntaxParser parser(std::make_shared<torch::jit::Source>(
        "def f" + std::to_string(i) + "(n: int) -> int:\n    return " + next + "\n", "<string>", 1));
    const auto resolver = std::make_shared<OtherUnit>(units[1 - i % 2]);
    functions.push_back(
        units[i % 2].define(std::nullopt, {parser.parseFunction()}, {resolver}, nullptr, /*lazily=*/true).at(0));
  }
  return functions;
}

} // namespace

TEST_CASE("Two units whose functions call into each other are compiled from many threads", "[jit][threads]") {
  constexpr int kLength = 30;
  for (int round = 0; round < 20; ++round) {
    torch::jit::CompilationUnit units[2];
    const auto functions = woven(units, kLength);
    const auto errors = together(kThreads, [&](int i) {
      const int64_t calls = (kLength - 1 - i) / 3;
      TORCH_CHECK((*functions.at(static_cast<size_t>(i)))({5}).toInt() == 5 + calls);
    });
    CHECK(errors == kNoErrors);
  }
}

TEST_CASE("A definition that fails is seen by no other thread", "[jit][threads]") {
  const auto unit = torch::jit::compile("def first(n: int) -> int:\n    return n\n");
  std::atomic<bool> done{false};
  const auto errors = together(kThreads, [&](int i) {
    if (i > 0) {
      while (!done) {
        TORCH_CHECK(unit->find_function("good") == nullptr);
        TORCH_CHECK(unit->get_functions().size() == 1);
        TORCH_CHECK(unit->get_function("first")({4}).toInt() == 4);
      }
      return;
    }
    for (int n = 0; n < 20; ++n) {
      try {
        unit->define(
            std::nullopt, "def good(n: int) -> int:\n    return n\ndef bad(n: int) -> int:\n    return unknown(n)\n",
            torch::jit::nativeResolver(), nullptr);
      } catch (const torch::jit::ErrorReport&) {
        continue;
      }
    }
    done = true;
  });
  CHECK(errors == kNoErrors);
}

TEST_CASE("Copies made by many threads get names of their own", "[jit][threads]") {
  std::istringstream in(saved_net());
  const torch::jit::Module net = torch::jit::load(in);
  std::vector<torch::jit::Module> clones(kThreads);
  const auto errors = together(kThreads, [&](int i) {
    torch::jit::Module& clone = clones[static_cast<size_t>(i)];
    clone = net.clone();
    clone.register_attribute("place", torch::jit::IntType::get(), i);
    TORCH_CHECK(clone.forward({torch::ones({2, 3})}).isTensor());
  });
  CHECK(errors == kNoErrors);
  std::set<std::string> names;
  for (int i = 0; i < kThreads; ++i) {
    names.insert(clones[static_cast<size_t>(i)].type()->name()->qualifiedName());
    CHECK(clones[static_cast<size_t>(i)].attr("place").toInt() == i);
  }
  CHECK(names.size() == kThreads);
}
