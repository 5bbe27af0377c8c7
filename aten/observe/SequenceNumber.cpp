#include <aten/observe/SequenceNumber.h>

namespace at::sequence_number::impl {

__thread uint64_t next __attribute__((tls_model("initial-exec"))) = 0;

} // namespace at::sequence_number::impl
