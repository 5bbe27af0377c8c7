#include <aten/library/custom_class.h>
#include <aten/library/library.h>

// A library of operators that the dispatcher test opens and closes again.

namespace {

int64_t served(const at::Tensor&) {
  return 11;
}

struct Tally : torch::CustomClassHolder {
  int64_t count = 0;
};

} // namespace

TORCH_LIBRARY(plugin, m) {
  m.class_<Tally>("Tally").def(torch::init<>()).def("next", [](const c10::intrusive_ptr<Tally>& self) {
    return ++self->count;
  });
  m.def("tally() -> __torch__.torch.classes.plugin.Tally", [] { return c10::make_intrusive<Tally>(); });
  m.def("add(Tensor a, int n) -> int", [](const at::Tensor&, int64_t n) { return n + 42; });
}

TORCH_LIBRARY_IMPL(host, CPU, m) {
  m.impl("served", &served);
}
