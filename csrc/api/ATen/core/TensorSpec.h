#pragma once

#include <aten/core/TensorSpec.h>
