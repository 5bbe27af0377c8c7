#pragma once

#include <c10/macros/Export.h>

// The number of devices that tables of a fixed size have room for; a DeviceIndex goes to 127.
#define C10_COMPILE_TIME_MAX_GPUS 120
