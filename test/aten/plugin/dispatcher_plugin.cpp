#include <aten/library.h>

// A library of operators that the dispatcher test opens and closes again.

namespace {

int64_t served(const at::Tensor&) {
  return 11;
}

} // namespace

TORCH_LIBRARY(plugin, m) {
  m.def("add(Tensor a, int n) -> int", [](const at::Tensor&, int64_t n) { return n + 42; });
}

TORCH_LIBRARY_IMPL(host, CPU, m) {
  m.impl("served", &served);
}
