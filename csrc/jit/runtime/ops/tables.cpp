#include <csrc/jit/runtime/ops/tables.h>

namespace torch::jit::ops {

std::vector<at::ArrayRef<OperatorRow>> all_tables() {
  return {
      number_rows(),   comparison_rows(), math_rows(),       string_rows(), formatting_rows(),
      list_rows(),     dict_rows(),       conversion_rows(), tensor_rows(), tensor_change_rows(),
      function_rows(), image_rows(),      profiler_rows(),   device_rows(),
  };
}

} // namespace torch::jit::ops
