#pragma once

#include <autograd/TensorDataContainer.h>
