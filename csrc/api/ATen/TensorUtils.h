#pragma once

#include <aten/TensorUtils.h>
