#pragma once

#include <aten/TensorOperators.h>
