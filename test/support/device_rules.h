// Where a call on a GPU may differ from the same one on the CPU.
#pragma once

#include <string_view>

namespace test {

/// Whether the tensor given as `argument` of `op` ("aten::lstm.data") must be on the CPU: sizes that the host needs to
/// know.
bool belongs_on_host(std::string_view op, std::string_view argument);

/// Is this the message of a refusal for a value that kernels do not look at: a divisor of zero, a probability?
bool only_host_looks(std::string_view message);

/// Whether `op` may be told to write several values to one place, of which any may stay (index_put: unless it
/// accumulates).
bool any_write_may_stay(std::string_view op);

} // namespace test
