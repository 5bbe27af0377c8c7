#include <csrc/jit/serialize/min_version.h>

#include <string>
#include <unordered_map>

namespace torch::jit {

uint64_t version_of_operator(const c10::OperatorName& name) {
  static const std::unordered_map<std::string, uint64_t> versions{
      {"aten::div.Tensor", 4},   {"aten::div.Tensor_mode", 4},
      {"aten::div.Scalar", 4},   {"aten::div.Scalar_mode", 4},
      {"aten::div.out", 4},      {"aten::div.out_mode", 4},
      {"aten::div_.Tensor", 4},  {"aten::div_.Tensor_mode", 4},
      {"aten::div_.Scalar", 4},  {"aten::div_.Scalar_mode", 4},
      {"aten::full", 5},         {"aten::full.names", 5},
      {"aten::full.out", 5},     {"aten::linspace", 8},
      {"aten::linspace.out", 8}, {"aten::logspace", 9},
      {"aten::logspace.out", 9}, {"aten::gelu", 10},
      {"aten::gelu.out", 10}};
  const auto found = versions.find(name.overload_name.empty() ? name.name : name.name + "." + name.overload_name);
  return found == versions.end() ? 0 : found->second;
}

} // namespace torch::jit
