// How the dispatcher lets observers hear of calls; see Note [Observed calls] in aten/observe/record_function.cpp.
#pragma once

#include <aten/core/boxing/KernelFunction.h>
#include <c10/core/DispatchKey.h>

namespace c10::impl {

/// The key that observed threads include: the one above all others, which has no other use here.
constexpr DispatchKey kObserverKey = DispatchKey::PythonDispatcher;

/// Whether operators must hand out observed kernels. The caller holds the registration lock.
bool all_threads_are_observed();

/// A kernel that makes an unobserved thread an observed one, and calls `kernel`. One for each kernel, and it lives for
/// ever: a call that found it may be on its way.
const KernelFunction& observed_kernel(const KernelFunction& kernel);

} // namespace c10::impl
