#include <csrc/llm/cpu/attention_rows.h>

#include <aten/core/Version.h>

namespace torch::llm {

const RowKernels& row_kernels() {
  static const RowKernels kernels = [] {
    const std::string level = at::get_cpu_capability();
    return level == "AVX512" ? RowKernels{v4::attend, v4::widen, v4::turn}
        : level == "AVX2"    ? RowKernels{v3::attend, v3::widen, v3::turn}
                             : RowKernels{v2::attend, v2::widen, v2::turn};
  }();
  return kernels;
}

} // namespace torch::llm
