// Thin face of <autograd/anomaly_mode.h> under the name that libtorch gives it.
#pragma once

#include <autograd/anomaly_mode.h>
