#pragma once

#include <aten/core/TensorAccessor.h>
