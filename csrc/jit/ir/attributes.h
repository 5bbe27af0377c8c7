// Constants that a node carries beside its inputs.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/ivalue.h>
#include <aten/core/jit_type_base.h>
#include <aten/core/known_symbols.h>
#include <c10/util/complex.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace torch::jit {

struct Graph;

/// The kinds, named by the letters of their accessors: f float, c complex, i int, s string, t tensor, g graph, ty type,
/// each also as a list; ival any value.
enum class AttributeKind { f, fs, c, cs, i, is, s, ss, t, ts, g, gs, ty, tys, ival };

/// The letters: "f", "fs", ...
TORCH_API const char* toString(AttributeKind kind);

/// One value; its alternatives stand in the order of AttributeKind.
using AttributeValue = std::variant<
    double,
    std::vector<double>,
    c10::complex<double>,
    std::vector<c10::complex<double>>,
    int64_t,
    std::vector<int64_t>,
    std::string,
    std::vector<std::string>,
    at::Tensor,
    std::vector<at::Tensor>,
    std::shared_ptr<Graph>,
    std::vector<std::shared_ptr<Graph>>,
    c10::TypePtr,
    std::vector<c10::TypePtr>,
    c10::IValue>;

struct NodeAttribute {
  c10::Symbol name;
  AttributeValue value;

  AttributeKind kind() const {
    return static_cast<AttributeKind>(value.index());
  }
};

} // namespace torch::jit
