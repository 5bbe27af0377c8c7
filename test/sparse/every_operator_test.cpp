// Operators that know nothing of sparse tensors must refuse them, and leave them whole.
#include "support.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>

using namespace sparse_test;

namespace {

struct Kinds {
  const char* name;
  at::Layout first;
  at::Layout rest;
};

Tensor sample(at::Layout layout) {
  const Tensor s = coo({{0, 1, 1}, {2, 0, 2}}, at::tensor({3.f, 4.f, 5.f}), {2, 3}).coalesce();
  return layout == at::kStrided ? s.to_dense() : layout == at::kSparse ? s : s.to_sparse(layout);
}

/// A value for an argument, none where its type is not known here.
std::optional<c10::IValue> value_for(
    const c10::Argument& argument, const Kinds& kinds, bool& first, std::vector<Tensor>& made) {
  const std::string type = argument.type()->str();
  const auto tensor = [&] {
    const Tensor t = sample(first ? kinds.first : kinds.rest);
    first = false;
    made.push_back(t);
    return t;
  };
  if (type == "Tensor" || type == "Tensor?") {
    return c10::IValue(tensor());
  }
  if (type == "Tensor[]") {
    return c10::IValue(std::vector<Tensor>{tensor(), tensor()});
  }
  if (argument.default_value()) {
    return *argument.default_value();
  }
  if (type.back() == '?') {
    return c10::IValue();
  }
  if (type == "int" || type == "SymInt") {
    return c10::IValue(1);
  }
  if (type == "float") {
    return c10::IValue(0.5);
  }
  if (type == "bool") {
    return c10::IValue(false);
  }
  if (type == "Scalar" || type == "number") {
    return c10::IValue(2);
  }
  if (type == "int[]" || type == "SymInt[]") {
    return c10::IValue(std::vector<int64_t>{2, 3});
  }
  if (type == "str") {
    return c10::IValue(std::string("mean"));
  }
  return std::nullopt;
}

/// The tensor's members agree with its size, so that it can be written out.
void check_whole(const Tensor& t) {
  if (t.layout() != at::kStrided) {
    CHECK(t.to_dense().sizes() == t.sizes());
  }
}

} // namespace

TEST_CASE("every operator takes sparse tensors or refuses them", "[sparse]") {
  const Kinds kinds = GENERATE(
      Kinds{"coordinates", at::kSparse, at::kSparse}, Kinds{"rows", at::kSparseCsr, at::kSparseCsr},
      Kinds{"coordinates, then strided", at::kSparse, at::kStrided},
      Kinds{"strided, then coordinates", at::kStrided, at::kSparse},
      Kinds{"rows, then strided", at::kSparseCsr, at::kStrided},
      Kinds{"coordinates, then rows", at::kSparse, at::kSparseCsr});
  int64_t called = 0, refused = 0;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.getNamespace() != "aten") {
      continue;
    }
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op) {
      continue;
    }
    bool first = true, known = true;
    std::vector<Tensor> made;
    torch::jit::Stack stack;
    for (const c10::Argument& argument : op->schema().arguments()) {
      std::optional<c10::IValue> value = value_for(argument, kinds, first, made);
      known = known && value.has_value();
      if (known) {
        stack.push_back(*value);
      }
    }
    if (!known || made.empty()) {
      continue;
    }
    INFO(kinds.name << ": " << name.name << "." << name.overload_name);
    ++called;
    try {
      op->callBoxed(&stack);
      for (const c10::IValue& result : stack) {
        if (result.isTensor() && result.toTensor().defined()) {
          check_whole(result.toTensor());
        }
      }
    } catch (const std::exception&) {
      ++refused;
    }
    for (const Tensor& t : made) {
      CHECK_NOTHROW(check_whole(t));
    }
  }
  CHECK(called > 1000);
  CHECK(refused < called);
}
