#pragma once

#include <aten/core/TensorBase.h>
