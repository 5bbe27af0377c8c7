#pragma once

#include <aten/core/TensorBase.h>
#include <c10/util/Optional.h>
