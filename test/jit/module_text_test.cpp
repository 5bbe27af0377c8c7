// What dump_to_str() gives: PyTorch's text.
#include <catch2/catch.hpp>

#include <torch/script.h>

#include <regex>

using namespace torch::jit;

namespace {

Module example() {
  Module m("M");
  m.register_parameter("w", torch::ones({2}), false);
  m.register_buffer("b", torch::zeros({1}));
  m.register_attribute("n", IntType::get(), 3);
  m.register_attribute("o", OptionalType::create(TensorType::get()), c10::IValue());
  Module child("C");
  child.register_parameter("v", torch::full({2}, 3.0), false);
  m.register_module("child", child);
  m.define(R"JIT(
def forward(self, x, k: int = 2):
    return x * self.w + self.b * k
def twice(self, x):
    return self.forward(self.forward(x))
)JIT");
  return m;
}

// Objects are printed with their addresses.
std::string without_addresses(const std::string& text) {
  return std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0x0");
}

} // namespace

TEST_CASE("A module without values and bodies prints as its names", "[jit]") {
  CHECK(without_addresses(example().dump_to_str(false, false, false)) == R"(module __torch__.M {
  parameters {
    w = ...
  }
  attributes {
    w = ...
    b = ...
    n = 3
    o = None
    child = <__torch__.C object at 0x0>
  }
  methods {
    method forward {
    }
    method twice {
    }
  }
  submodules {
    module __torch__.C {
      parameters {
        v = ...
      }
      attributes {
        v = ...
      }
      methods {
      }
      submodules {
      }
    }
  }
}
)");
}

TEST_CASE("A module prints with its values", "[jit]") {
  const std::string text = example().dump_to_str(false, true, true);
  CHECK(text.find(R"(  parameters {
    w =  1
     1
    [ CPUFloatType{2} ]
  }
  attributes {
    w =  1
     1
    [ CPUFloatType{2} ]
    b =  0
    [ CPUFloatType{1} ]
    n = 3
)") != std::string::npos);
  CHECK(text.find(R"(      parameters {
        v =  3
         3
        [ CPUFloatType{2} ]
      }
)") != std::string::npos);
}

TEST_CASE("Graphs of methods are indented, and end with a line of their module's indentation", "[jit]") {
  Module m("M");
  m.define("def f(self, x):\n    return x\n");
  CHECK(m.dump_to_str(true, false, false) == R"(module __torch__.M {
  parameters {
  }
  attributes {
  }
  methods {
    method f {
      graph(%self : __torch__.M,
            %x.1 : Tensor):
        return (%x.1)
  
    }
  }
  submodules {
  }
}
)");
}
