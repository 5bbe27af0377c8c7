#pragma once

#include <aten/TensorGeometry.h>
