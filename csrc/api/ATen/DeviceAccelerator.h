#pragma once

#include <aten/DeviceAccelerator.h>
