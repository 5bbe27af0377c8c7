#include <c10/core/AutogradState.h>

namespace c10::impl {

__thread AutogradState raw_autograd_state __attribute__((tls_model("initial-exec"))) =
    AutogradState(/*grad_mode=*/true, /*inference_mode=*/false, /*fw_grad_mode=*/true, /*multithreading_enabled=*/true);

} // namespace c10::impl
