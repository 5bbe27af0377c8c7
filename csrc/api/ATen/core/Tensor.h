#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/optional_tensor.h>
#include <c10/util/Optional.h>
