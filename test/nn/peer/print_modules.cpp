// Prints modules_list.inc and modules_values.inc, on stdout and stderr. Built against libtorch:
//   g++ -std=c++20 -I.. ../modules_list.cpp ../modules_compute.cpp print_modules.cpp, with its include and library
//   folders
#include "modules_list.h"

#include <cstdio>

namespace {

std::string sizes_text(at::IntArrayRef sizes) {
  std::string text;
  for (const int64_t size : sizes) {
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  return "{" + text + "}";
}

double weighted_sum(const torch::Tensor& value) {
  return (value.reshape(-1) * torch::arange(1, value.numel() + 1, torch::kDouble).cos()).sum().item<double>();
}

} // namespace

int main() {
  for (const modules_list::Description& module : modules_list::describe_modules()) {
    std::printf("{R\"(%s)\",\n {", module.text.c_str());
    for (const modules_list::NamedTensor& tensor : module.tensors) {
      std::printf(
          "{\"%s\", %s, %.9g}, ", tensor.name.c_str(), sizes_text(tensor.sizes).c_str(), weighted_sum(tensor.values));
    }
    std::printf("}},\n");
  }
  for (const modules_list::Value& value : modules_list::compute_values()) {
    std::fprintf(
        stderr, "{\"%s\", %s, %.9g},\n", value.name.c_str(), sizes_text(value.value.sizes()).c_str(),
        weighted_sum(value.value));
  }
}
