// Objects of classes that libraries bind, in programs of torch.export.
#include <catch2/catch.hpp>

#include "test/fx/archive_records.h"

#include <torch/custom_class.h>
#include <torch/export.h>
#include <torch/torch.h>
#include <csrc/serialize/pickle_bytes.h>

#include <algorithm>
#include <fstream>
#include <sstream>

using Catch::Matchers::Contains;
using torch::Tensor;

namespace {

/// What the programs were exported with: x * factor + shift.
struct Scale : torch::CustomClassHolder {
  Scale(double factor, Tensor shift) : factor(factor), shift(std::move(shift)) {}
  Tensor apply(const Tensor& x) {
    return x * factor + shift;
  }
  std::tuple<Tensor, Tensor> both(const Tensor& x, double extra) {
    return {apply(x), x * extra};
  }
  double factor;
  Tensor shift;
};

Tensor scaled(const Tensor& x, const c10::intrusive_ptr<Scale>& scale) {
  return scale->apply(x);
}

TORCH_LIBRARY(bound_example, m) {
  m.class_<Scale>("Scale")
      .def(torch::init<double, Tensor>())
      .def("apply", &Scale::apply)
      .def("both", &Scale::both)
      .def_pickle(
          [](const c10::intrusive_ptr<Scale>& self) { return std::make_tuple(self->factor, self->shift); },
          [](const std::tuple<double, Tensor>& state) {
            return c10::make_intrusive<Scale>(std::get<0>(state), std::get<1>(state));
          });
  m.def("scaled(Tensor x, __torch__.torch.classes.bound_example.Scale scale) -> Tensor");
  m.impl("scaled", c10::DispatchKey::CompositeExplicitAutograd, scaled);
}

std::string path_of(const std::string& name) {
  return std::string(TEST_PROGRAMS_DATA) + "/export/bound_" + name + ".pt2";
}

torch::ExportedProgram saved_and_loaded(const torch::ExportedProgram& program) {
  std::stringstream stream;
  program.save(stream);
  return torch::load_program(stream);
}

/// What the modules in the files computed in Python.
Tensor expected(const std::string& name, const torch::ExportedProgram& program, const Tensor& x) {
  const auto state = program.state_dict();
  const Tensor shift = torch::arange(3, torch::kFloat);
  Tensor y = torch::linear(x, state.at("linear.weight"), state.at("linear.bias")) * 1.5 + shift;
  if (name != "operator") {
    y = y * 1.5 + shift;
  }
  return (name == "methods" ? y * 1.5 + shift + y * 0.5 : y).relu();
}

} // namespace

TEST_CASE("Programs with objects of bound classes are read, run and written", "[fx][exported]") {
  torch::manual_seed(1);
  const Tensor x = torch::randn({2, 4});
  for (const char* const name : {"operator", "method_decomposed", "methods"}) {
    INFO(name);
    const auto program = torch::load_program(path_of(name));
    const Tensor want = expected(name, program, x);
    CHECK(program({x}).toTensor().allclose(want));
    const auto& specs = program.graph_signature().input_specs;
    CHECK(std::any_of(specs.begin(), specs.end(), [](const torch::InputSpec& spec) {
      return spec.kind == torch::InputKind::CUSTOM_OBJ && spec.target == "scale";
    }));
    CHECK(program.module().attr("scale").toCustomClass<Scale>()->factor == 1.5);
    const auto again = saved_and_loaded(program);
    CHECK(again({x}).toTensor().equal(program({x}).toTensor()));
    CHECK(again.module().attr("scale").toCustomClass<Scale>()->shift.equal(torch::arange(3, torch::kFloat)));
  }
}

TEST_CASE("An object that an operator takes becomes an attribute of a program made in C++", "[fx][exported]") {
  const auto scale = c10::make_intrusive<Scale>(2.0, torch::ones({3}));
  const auto op = c10::Dispatcher::singleton()
                      .findSchemaOrThrow("bound_example::scaled", "")
                      .typed<Tensor(const Tensor&, const c10::intrusive_ptr<Scale>&)>();
  const auto f = [&](const Tensor& x) { return op.call(op.call(x.relu(), scale), scale); };
  const Tensor x = torch::randn({5, 3});
  torch::ExportOptions options;
  options.dynamic = {{"arg0", 0}};
  for (const auto& given : {torch::ExportOptions(), options}) {
    const auto program = torch::export_(f, {x}, given);
    CHECK(program({x}).toTensor().equal(f(x)));
    const auto again = saved_and_loaded(program);
    CHECK(again({x}).toTensor().equal(f(x)));
    CHECK(again.module().attr("object_0").toCustomClass<Scale>()->factor == 2);
  }
}

TEST_CASE("Objects of classes that no library binds are refused by name", "[fx][exported]") {
  std::ifstream file(path_of("operator"), std::ios::binary);
  test::Records records = test::records_of(file);
  std::string& object = records.at("data/constants/custom_obj_0");
  CHECK(torch::jit::pickle_load_obj(object).toCustomClass<Scale>()->factor == 1.5);
  std::istringstream inner(object);
  test::Records parts = test::records_of(inner);
  std::string& pickle = parts.at("data.pkl");
  const size_t place = pickle.find("Scale");
  REQUIRE(place != std::string::npos);
  pickle.replace(place, 5, "Other");
  object = test::archive_of(parts);
  const std::string bytes = test::archive_of(records);
  CHECK_THROWS_WITH(
      torch::load_program(bytes.data(), bytes.size()),
      Contains("'scale'") && Contains("bound_example.Other is not bound") && Contains("load the library"));
}
