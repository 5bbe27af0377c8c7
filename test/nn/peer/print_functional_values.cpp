// Prints functional_values.inc. Built against libtorch:
//   g++ -std=c++17 -I.. ../functional_*cases.cpp print_functional_values.cpp, with libtorch's include and library
//   folders
#include "functional_cases.h"

#include <cstdio>

int main() {
  for (const cases::Case& item : cases::all_cases()) {
    const torch::Tensor value = item.value.to(torch::kDouble);
    std::string sizes;
    for (const int64_t size : value.sizes()) {
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    }
    std::printf(
        "{\"%s\", {%s}, %.17g, %.17g},\n", item.name.c_str(), sizes.c_str(), value.sum().item<double>(),
        (value * cases::weights_like(value)).sum().item<double>());
  }
}
