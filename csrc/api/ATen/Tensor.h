#pragma once

#include <aten/core/DeprecatedTypeProperties.h>
#include <aten/core/Tensor.h>
#include <aten/core/optional_tensor.h>
#include <c10/util/Optional.h>
