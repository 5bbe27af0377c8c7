// The lists of autocast against PyTorch's: for each operator, what its kernel gets.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/autocast/autocast_rules.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/library/library.h>
#include <c10/core/TensorImpl.h>

#include "test/amp/expected.h"
#include "test/amp/support.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using at::Tensor;
using c10::Dispatcher;
using c10::IValue;
using test::letter;

namespace {

c10::OperatorName operator_name(const std::string& name) {
  const size_t dot = name.find('.');
  return dot == std::string::npos ? c10::OperatorName(name, "")
                                  : c10::OperatorName(name.substr(0, dot), name.substr(dot + 1));
}

// A CUDA tensor without memory: enough for what happens before a kernel.
Tensor without_memory(at::ScalarType dtype) {
  return at::detail::make_tensor<c10::TensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::CUDA), c10::scalarTypeToTypeMeta(dtype), c10::Device(at::kCUDA, 0));
}

// Arguments for an operator, as in reference.py.
struct Arguments {
  at::DeviceType device;
  at::ScalarType lower;
  char kind;
  int place = 0; // of the next argument that holds tensors

  at::ScalarType dtype(int turn) const {
    switch (kind) {
      case 'l':
        return lower;
      case 'm':
        return turn % 2 == 0 ? at::kFloat : lower;
      case 'd':
        return at::kDouble;
      case 'i':
        return at::kLong;
      default:
        return at::kFloat;
    }
  }
  Tensor tensor(at::ScalarType type) const {
    return device == at::kCUDA ? without_memory(type) : at::ones({2, 3}, type);
  }
  IValue value(const c10::Argument& argument) {
    const c10::TypePtr type = argument.type();
    if (const auto* list = type->castRaw<c10::ListType>()) {
      return list_value(*list->getElementType(), argument.N().value_or(1));
    }
    if (const auto* optional = type->castRaw<c10::OptionalType>()) {
      return optional->getElementType()->kind() == c10::TypeKind::TensorType ? IValue(tensor(dtype(place++)))
                                                                             : IValue();
    }
    switch (type->kind()) {
      case c10::TypeKind::TensorType:
        return tensor(dtype(place++));
      case c10::TypeKind::FloatType:
      case c10::TypeKind::NumberType:
        return 1.0;
      case c10::TypeKind::BoolType:
        return false;
      case c10::TypeKind::StringType:
        return "fro";
      default:
        return 1;
    }
  }
  IValue list_value(const c10::Type& element, int count) {
    switch (element.kind()) {
      case c10::TypeKind::TensorType: {
        const at::ScalarType first = dtype(place++);
        return std::vector<Tensor>{tensor(first), tensor(kind == 'm' ? lower : first)};
      }
      case c10::TypeKind::OptionalType: {
        ++place;
        return c10::List<std::optional<Tensor>>({tensor(at::kLong)});
      }
      case c10::TypeKind::FloatType:
        return std::vector<double>(static_cast<size_t>(count), 1.0);
      default:
        return std::vector<int64_t>(static_cast<size_t>(count), 1);
    }
  }
};

// Thrown in place of running the operator.
struct Reached {
  std::string dtypes;
};

struct Recorder : c10::OperatorKernel {
  explicit Recorder(at::ScalarType lower) : lower(lower) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, torch::jit::Stack* stack) const {
    const auto& arguments = op.schema().arguments();
    const IValue* first = stack->data() + (stack->size() - arguments.size());
    std::string tensors, asked;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (first[i].isTensor()) {
        tensors += letter(first[i].toTensor().scalar_type(), lower);
      }
      if (first[i].isTensorList()) {
        for (const Tensor& tensor : first[i].toTensorVector()) {
          tensors += letter(tensor.scalar_type(), lower);
        }
      }
      if (first[i].isOptionalTensorList()) {
        for (const Tensor& tensor : first[i].to<std::vector<Tensor>>()) {
          tensors += letter(tensor.scalar_type(), lower);
        }
      }
      if (first[i].isInt() && argument_is_dtype(arguments[i])) {
        asked += letter(first[i].toScalarType(), lower);
      }
    }
    throw Reached{asked.empty() ? tensors : tensors + ">" + asked};
  }

  static bool argument_is_dtype(const c10::Argument& argument) {
    const auto* optional = argument.real_type()->castRaw<c10::OptionalType>();
    const c10::TypePtr type = optional != nullptr ? optional->getElementType() : argument.real_type();
    return type->kind() == c10::TypeKind::ScalarTypeType;
  }

  const at::ScalarType lower;
};

std::string reached(const c10::OperatorHandle& op, Arguments arguments) {
  torch::jit::Stack stack;
  for (const c10::Argument& argument : op.schema().arguments()) {
    stack.push_back(arguments.value(argument));
  }
  try {
    op.callBoxed(&stack);
  } catch (const Reached& reached) {
    return reached.dtypes;
  } catch (const c10::Error& error) {
    return std::string(error.what_without_backtrace()).find("unsafe to autocast") != std::string::npos ? "refused"
                                                                                                       : error.what();
  }
  return "ran";
}

void check_list(
    const std::string& device_name, at::DeviceType device, c10::DispatchKey autograd, at::ScalarType lower) {
  // The cast of a tensor without memory.
  torch::Library casts(torch::Library::IMPL, "aten", c10::DispatchKey::AutogradCUDA, __FILE__, __LINE__);
  casts.impl("to.dtype", [](const Tensor&, at::ScalarType dtype, bool, bool, std::optional<at::MemoryFormat>) {
    return without_memory(dtype);
  });
  const test::AutocastOn on(device, lower);
  for (const test::ReachedDtypes& row : test::expected_reached) {
    if (row.device != device_name) {
      continue;
    }
    const auto op = Dispatcher::singleton().findSchema(operator_name(row.name));
    if (!op) {
      continue;
    }
    torch::Library recorders(torch::Library::IMPL, "aten", autograd, __FILE__, __LINE__);
    const auto record = [&](const std::string& name) {
      recorders.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Recorder>(lower)));
    };
    record(row.name);
    if (row.name == "aten::norm.Scalar") {
      record("aten::norm.ScalarOpt_dtype");
    }
    if (row.name == "aten::norm.ScalarOpt_dim") {
      record("aten::norm.ScalarOpt_dim_dtype");
    }
    const std::string kinds = "flmdi";
    for (size_t i = 0; i < kinds.size(); ++i) {
      INFO(row.name << " with tensors of kind " << kinds[i]);
      CHECK(reached(*op, {device, lower, kinds[i]}) == row.by_kind[i]);
    }
  }
}

} // namespace

TEST_CASE("each rule is for an operator, and no operator has two", "[amp]") {
  std::set<std::string> seen;
  for (const at::autocast::CastRule& rule : at::autocast::cast_rules()) {
    INFO(rule.name << "." << rule.overload_name);
    CHECK(Dispatcher::singleton().findSchema({rule.name, rule.overload_name}).has_value());
    CHECK(seen.insert(std::string(rule.name) + "." + rule.overload_name).second);
    CHECK((rule.cpu != at::autocast::CastPolicy::none || rule.cuda != at::autocast::CastPolicy::none));
  }
}

TEST_CASE("every operator casts as PyTorch's does", "[amp]") {
  check_list("cpu", at::kCPU, c10::DispatchKey::AutogradCPU, at::kBFloat16);
  check_list("cpu", at::kCPU, c10::DispatchKey::AutogradCPU, at::kHalf);
  check_list("cuda", at::kCUDA, c10::DispatchKey::AutogradCUDA, at::kHalf);
  check_list("cuda", at::kCUDA, c10::DispatchKey::AutogradCUDA, at::kBFloat16);
}

TEST_CASE("only operators of the lists have autocast kernels", "[amp]") {
  std::set<std::string> listed;
  for (const test::ReachedDtypes& row : test::expected_reached) {
    listed.insert(row.device + row.name);
  }
  listed.insert("cpuaten::bilinear"); // made of a matrix product here, and not to be cast as one
  for (const auto& [device, key] :
       {std::pair("cpu", c10::DispatchKey::AutocastCPU), std::pair("cuda", c10::DispatchKey::AutocastCUDA)}) {
    for (const c10::OperatorName& name : Dispatcher::singleton().getRegistrationsForDispatchKey(key)) {
      if (name.name.rfind("aten::", 0) == 0) {
        CHECK(listed.count(device + c10::toString(name)) == 1);
      }
    }
  }
}

TEST_CASE("optional tensors have no say in the promoted dtype", "[amp]") {
  torch::Library recorders(torch::Library::IMPL, "aten", c10::DispatchKey::AutogradCUDA, __FILE__, __LINE__);
  recorders.impl("bilinear", torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Recorder>(at::kHalf)));
  recorders.impl("to.dtype", [](const Tensor&, at::ScalarType dtype, bool, bool, std::optional<at::MemoryFormat>) {
    return without_memory(dtype);
  });
  const test::AutocastOn on(at::kCUDA, at::kHalf);
  const auto op = Dispatcher::singleton().findSchemaOrThrow("aten::bilinear", "");
  const Tensor half = without_memory(at::kHalf);
  torch::jit::Stack stack{half, half, half, without_memory(at::kFloat)};
  std::string dtypes;
  try {
    op.callBoxed(&stack);
  } catch (const Reached& reached) {
    dtypes = reached.dtypes;
  }
  CHECK(dtypes == "llll");
  torch::jit::Stack mixed{half, without_memory(at::kBFloat16), half, IValue()};
  CHECK_THROWS_MATCHES(
      op.callBoxed(&mixed), c10::Error, test::Says("Unexpected floating ScalarType in at::autocast::prioritize"));
}
