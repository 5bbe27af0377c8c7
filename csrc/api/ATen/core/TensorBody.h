#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/Optional.h>
