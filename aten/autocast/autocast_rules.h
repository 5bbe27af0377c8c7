// Which operators autocast casts for, and how.
#pragma once

#include <aten/autocast/autocast_mode.h>
#include <c10/util/ArrayRef.h>

namespace at::autocast {

struct CastRule {
  const char* name;
  const char* overload_name;
  CastPolicy cpu;
  CastPolicy cuda;
};

/// One rule an operator.
TORCH_API c10::ArrayRef<CastRule> cast_rules();

} // namespace at::autocast
