#include <csrc/jit/frontend/builtin_functions.h>

#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/frontend/resolver.h>

#include <string>
#include <unordered_map>

namespace torch::jit {

namespace {

// Numbers on the left of a tensor; SCALAR stands for each type of numbers.
constexpr const char* kOfNumbers = R"(
def mul(a: SCALAR, b: Tensor) -> Tensor:
  return b * a
def add(a: SCALAR, b: Tensor) -> Tensor:
  return b + a
def ne(a: SCALAR, b: Tensor) -> Tensor:
  return b != a
def eq(a: SCALAR, b: Tensor) -> Tensor:
  return b == a
def sub(a: SCALAR, b: Tensor) -> Tensor:
  return torch.neg(b) + a
def div(a: SCALAR, b: Tensor) -> Tensor:
  return torch.reciprocal(b) * a
)";
// Complex numbers have no order.
constexpr const char* kOfRealNumbers = R"(
def pow(a: SCALAR, b: Tensor) -> Tensor:
  return torch.pow(a, b)
def lt(a: SCALAR, b: Tensor) -> Tensor:
  return b > a
def le(a: SCALAR, b: Tensor) -> Tensor:
  return b >= a
def gt(a: SCALAR, b: Tensor) -> Tensor:
  return b < a
def ge(a: SCALAR, b: Tensor) -> Tensor:
  return b <= a
)";
constexpr const char* kOfTensors = R"(
def floordiv(self: Tensor, other: Tensor) -> Tensor:
  return torch.floor_divide(self, other)
def floordiv(self: Tensor, other: number) -> Tensor:
  return torch.floor_divide(self, other)
def ndim(a: Tensor) -> int:
  return a.dim()
def T(a: Tensor) -> Tensor:
  return a.numpy_T()
def H(a: Tensor) -> Tensor:
  return a.matrix_H()
)";
constexpr const char* kOfStrings = R"(
def __contains__(self: str, key: str) -> bool:
  return self.find(key, 0, len(self)) != -1
)";
// One number for each dimension where a list is wanted.
constexpr const char* kTuples = R"(
def _single(x: BroadcastingList1[SCALAR]) -> List[SCALAR]:
  return x
def _pair(x: BroadcastingList2[SCALAR]) -> List[SCALAR]:
  return x
def _triple(x: BroadcastingList3[SCALAR]) -> List[SCALAR]:
  return x
def _quadruple(x: BroadcastingList4[SCALAR]) -> List[SCALAR]:
  return x
)";

std::string of_type(std::string source, const std::string& type) {
  const std::string placeholder = "SCALAR";
  for (size_t at = source.find(placeholder); at != std::string::npos; at = source.find(placeholder, at)) {
    source.replace(at, placeholder.size(), type);
  }
  return source;
}

/// All of them, compiled when one is first asked for. Each source is a unit of its own, since names repeat.
class BuiltinFunctions {
 public:
  BuiltinFunctions() {
    for (const char* type : {"float", "int", "complex"}) {
      define("aten", of_type(kOfNumbers, type));
    }
    for (const char* type : {"float", "int"}) {
      define("aten", of_type(kOfRealNumbers, type));
      define("aten", of_type(kTuples, type));
    }
    define("aten", kOfStrings);
    const std::string of_tensors = kOfTensors;
    const size_t second = of_tensors.find("def floordiv", of_tensors.find("def floordiv") + 1);
    define("aten", of_tensors.substr(0, second));
    define("aten", of_tensors.substr(second));
  }

  const std::vector<Function*>& of(Symbol name) const {
    static const auto& none = *new std::vector<Function*>();
    const auto found = functions_.find(name);
    return found == functions_.end() ? none : found->second;
  }

 private:
  void define(const std::string& space, const std::string& source) {
    const auto unit = std::make_shared<CompilationUnit>();
    for (Function* function : unit->define(std::nullopt, source, nativeResolver(), nullptr)) {
      functions_[Symbol::fromQualString(space + "::" + function->name())].push_back(function);
    }
    units_.push_back(unit);
  }

  std::vector<std::shared_ptr<CompilationUnit>> units_;
  std::unordered_map<Symbol, std::vector<Function*>> functions_;
};

} // namespace

const std::vector<Function*>& getAllBuiltinFunctionsFor(Symbol name) {
  // Compiling them asks for more of them: then there are none yet.
  thread_local bool making = false;
  static const auto& none = *new std::vector<Function*>();
  if (making) {
    return none;
  }
  making = true;
  static const auto& all = *new BuiltinFunctions();
  making = false;
  return all.of(name);
}

} // namespace torch::jit
