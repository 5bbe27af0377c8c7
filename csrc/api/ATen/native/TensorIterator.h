#pragma once

#include <aten/TensorIterator.h>
