#pragma once

namespace at::native {

/// What operators of backends and layouts that do not exist here do: throws NotImplementedError with the operator's
/// name and the reason that its entry gives.
[[noreturn]] void refuse(const char* op, const char* reason);

} // namespace at::native
