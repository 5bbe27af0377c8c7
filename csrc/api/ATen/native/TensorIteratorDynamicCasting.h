#pragma once

#include <aten/native/TensorIteratorDynamicCasting.h>
