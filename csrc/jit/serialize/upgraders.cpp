#include <csrc/jit/serialize/upgraders.h>

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/serialize/format_versions.h>

#include <string>
#include <vector>

namespace torch::jit {

namespace {

/// An operator, the first version of files with its present meaning, and functions that do what it did before: one for
/// each overload.
struct ChangedOperator {
  const char* name;
  uint64_t changed_in;
  std::vector<const char*> functions;
};

// div of integers was rounded towards zero; full gave floating-point numbers for all values but where a dtype was
// given; linspace and logspace had 100 steps if none were given; gelu knew one formula.
constexpr const char* kFunctions = R"(
def div_Tensor(self: Tensor, other: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point():
        return torch.true_divide(self, other)
    return torch.divide(self, other, rounding_mode='trunc')
def div_Scalar(self: Tensor, other: number) -> Tensor:
    if self.is_floating_point() or isinstance(other, float):
        return torch.true_divide(self, other)
    return torch.divide(self, other, rounding_mode='trunc')
def div_Tensor_mode(self: Tensor, other: Tensor, *, rounding_mode: Optional[str]) -> Tensor:
    return torch.divide(self, other, rounding_mode=rounding_mode)
def div_Scalar_mode(self: Tensor, other: number, *, rounding_mode: Optional[str]) -> Tensor:
    return torch.divide(self, other, rounding_mode=rounding_mode)
def div_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point() or out.is_floating_point():
        return torch.true_divide(self, other, out=out)
    return torch.divide(self, other, rounding_mode='trunc', out=out)
def div_out_mode(self: Tensor, other: Tensor, *, rounding_mode: Optional[str], out: Tensor) -> Tensor:
    return torch.divide(self, other, rounding_mode=rounding_mode, out=out)
def div__Tensor(self: Tensor, other: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point():
        return self.true_divide_(other)
    return self.divide_(other, rounding_mode='trunc')
def div__Scalar(self: Tensor, other: number) -> Tensor:
    if self.is_floating_point() or isinstance(other, float):
        return self.true_divide_(other)
    return self.divide_(other, rounding_mode='trunc')
def div__Tensor_mode(self: Tensor, other: Tensor, *, rounding_mode: Optional[str]) -> Tensor:
    return self.divide_(other, rounding_mode=rounding_mode)
def div__Scalar_mode(self: Tensor, other: number, *, rounding_mode: Optional[str]) -> Tensor:
    return self.divide_(other, rounding_mode=rounding_mode)
def full(size: List[int], fill_value: number, *, dtype: Optional[int] = None, layout: Optional[int] = None,
         device: Optional[Device] = None, pin_memory: Optional[bool] = None) -> Tensor:
    value = fill_value
    if dtype is None:
        value = float(fill_value)
    return torch.full(size, value, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
def full_out(size: List[int], fill_value: number, *, out: Tensor) -> Tensor:
    return torch.full(size, fill_value, out=out)
def linspace(start: number, end: number, steps: Optional[int] = None, *, dtype: Optional[int] = None,
             layout: Optional[int] = None, device: Optional[Device] = None,
             pin_memory: Optional[bool] = None) -> Tensor:
    count = 100 if steps is None else steps
    return torch.linspace(start, end, count, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
def linspace_out(start: number, end: number, steps: Optional[int] = None, *, out: Tensor) -> Tensor:
    count = 100 if steps is None else steps
    return torch.linspace(start, end, count, out=out)
def logspace(start: number, end: number, steps: Optional[int] = None, base: float = 10.0, *,
             dtype: Optional[int] = None, layout: Optional[int] = None, device: Optional[Device] = None,
             pin_memory: Optional[bool] = None) -> Tensor:
    count = 100 if steps is None else steps
    return torch.logspace(start, end, count, base, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
def logspace_out(start: number, end: number, steps: Optional[int] = None, base: float = 10.0, *,
                 out: Tensor) -> Tensor:
    count = 100 if steps is None else steps
    return torch.logspace(start, end, count, base, out=out)
def gelu(self: Tensor) -> Tensor:
    return torch.gelu(self, approximate='none')
def gelu_out(self: Tensor, *, out: Tensor) -> Tensor:
    return torch.gelu(self, approximate='none', out=out)
)";

const std::vector<ChangedOperator>& changed_operators() {
  static const auto& operators = *new std::vector<ChangedOperator>{
      {"div", 4, {"div_Tensor", "div_Scalar", "div_Tensor_mode", "div_Scalar_mode", "div_out", "div_out_mode"}},
      {"div_", 4, {"div__Tensor", "div__Scalar", "div__Tensor_mode", "div__Scalar_mode"}},
      {"full", 5, {"full", "full_out"}},
      {"linspace", 8, {"linspace", "linspace_out"}},
      {"logspace", 9, {"logspace", "logspace_out"}},
      {"gelu", 10, {"gelu", "gelu_out"}}};
  return operators;
}

// Functions in use refer to its graphs, so it lives for ever.
CompilationUnit& functions() {
  static CompilationUnit& unit = *new CompilationUnit(kFunctions);
  return unit;
}

/// Calls what an operator did before. Its graph is copied to the place of the call: a module that is saved again shall
/// not depend on functions of this library.
struct OperatorBefore final : SugaredValue {
  explicit OperatorBefore(const ChangedOperator& changed) : changed(changed) {}
  std::string kind() const override {
    return "builtin";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override {
    Graph& graph = *method.graph();
    for (const char* name : changed.functions) {
      GraphFunction& before = toGraphFunction(functions().get_function(c10::QualifiedName(name)));
      std::optional<MatchedSchema> match;
      try {
        match = matchSchema(before.getSchema(), range, graph, arguments, keyword_arguments);
      } catch (const c10::Error&) {
        continue; // another overload
      }
      return std::make_shared<SimpleValue>(insertGraph(graph, *before.graph(), match->inputs).at(0));
    }
    // Overloads for numbers alone have not changed.
    const Symbol symbol = Symbol::fromQualString(std::string("aten::") + changed.name);
    return BuiltinFunction(symbol, std::nullopt).call(range, method, arguments, keyword_arguments, n_binders);
  }

  const ChangedOperator& changed;
};

struct TorchOfVersion final : SugaredValue {
  explicit TorchOfVersion(uint64_t version) : version(version) {}
  std::string kind() const override {
    return "builtin module";
  }
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override {
    for (const ChangedOperator& changed : changed_operators()) {
      if (field == changed.name && version < changed.changed_in) {
        return std::make_shared<OperatorBefore>(changed);
      }
    }
    return BuiltinModule("aten").attr(range, method, field);
  }

  uint64_t version;
};

} // namespace

SugaredValuePtr torchOfVersion(uint64_t version) {
  if (version >= caffe2::serialize::kProducedFileFormatVersion) {
    return std::make_shared<BuiltinModule>("aten");
  }
  return std::make_shared<TorchOfVersion>(version);
}

} // namespace torch::jit
