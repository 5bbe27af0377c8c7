// Loads the extension named on the command line, as torch.ops.load_library does, and uses its operators.
#include "check.h"

#include <dlfcn.h>

#include <iostream>

namespace {

int failed(const std::string& what) {
  std::cout << what << '\n';
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  auto& dispatcher = c10::Dispatcher::singleton();
  if (dispatcher.findSchema({"fused_norm::add_layer_norm", ""}).has_value()) {
    return failed("the operator is there before its library");
  }
  if (argc != 2 || dlopen(argv[1], RTLD_NOW) == nullptr) {
    return failed(std::string("not loaded: ") + dlerror());
  }
  std::cout << dispatcher.findSchemaOrThrow("fused_norm::add_layer_norm", "").schema() << '\n';
  std::cout << dispatcher.findSchemaOrThrow("fused_norm::order_of_rows", "").schema() << '\n';

  // Without data.
  const at::Tensor x = torch::ones({2, 3, 4}, at::kMeta),
                   weight = torch::ones({4}, torch::device(at::kMeta).requires_grad(true));
  const auto [out, sum] = fused_norm::add_layer_norm(x, std::nullopt, weight, weight);
  if (out.sizes() != x.sizes() || !out.is_meta() || out.grad_fn() == nullptr) {
    return failed("wrong result without data");
  }

  // On the CPU there is no kernel, which the error says.
  try {
    fused_norm::add_layer_norm(torch::ones({2, 4}), std::nullopt, torch::ones(4), torch::ones(4));
    return failed("no error on the CPU");
  } catch (const c10::Error& e) {
    if (std::string(e.what()).find("fused_norm::_forward") == std::string::npos) {
      return failed(e.what_without_backtrace());
    }
  }

  if (torch::cuda::is_available()) {
    if (const std::string what = fused_norm::first_difference(at::kCUDA); !what.empty()) {
      return failed(what);
    }
    const auto op =
        dispatcher.findSchemaOrThrow("fused_norm::order_of_rows", "").typed<at::Tensor(const at::Tensor&)>();
    const at::Tensor rows = torch::randn({100, 30}, at::kCUDA);
    if (!at::equal(op.call(rows).cpu(), rows.norm(2, 1).cpu().argsort())) {
      return failed("wrong order of rows");
    }
  }
  std::cout << "ok\n";
}
