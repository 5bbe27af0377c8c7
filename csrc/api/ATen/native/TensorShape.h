#pragma once

#include <aten/native/TensorShape.h>
