#pragma once

#include <aten/DeviceGuard.h>
