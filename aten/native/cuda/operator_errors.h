// Which operator was running when something of CUDA failed.
#pragma once

namespace at::native::cuda {

/// For `catch (...)` around a kernel: throws the caught exception on, and if it is a failed call of CUDA or one of its
/// libraries, or tells that memory ran out, its text then names the operator: "(in aten::add.Tensor)". The innermost
/// operator names itself. What costs time stands here, so that kernels that succeed pay nothing.
[[noreturn, gnu::cold]] void rethrow_from(const char* op);

} // namespace at::native::cuda
