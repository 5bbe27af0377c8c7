#include <aten/native/lstm_recurrence.h>

#include <aten/native/cpu_isa.h>

namespace at::native {

// aten/native/cpu/rnn.cpp for each instruction set.
namespace v2 {
void lstm_recurrence(const TensorBase&, const TensorBase&, const TensorBase&, const TensorBase&, bool, const TensorBase&, const TensorBase&);
}
namespace v3 {
void lstm_recurrence(const TensorBase&, const TensorBase&, const TensorBase&, const TensorBase&, bool, const TensorBase&, const TensorBase&);
}
namespace v4 {
void lstm_recurrence(const TensorBase&, const TensorBase&, const TensorBase&, const TensorBase&, bool, const TensorBase&, const TensorBase&);
}

void lstm_recurrence(
    const TensorBase& gates, const TensorBase& hx, const TensorBase& cx, const TensorBase& w_hh, bool reverse,
    const TensorBase& output, const TensorBase& cells) {
  static constexpr decltype(&v2::lstm_recurrence) kTable[] = {v2::lstm_recurrence, v3::lstm_recurrence, v4::lstm_recurrence};
  kTable[cpu_isa_level()](gates, hx, cx, w_hh, reverse, output, cells);
}

} // namespace at::native
