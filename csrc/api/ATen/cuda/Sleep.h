#pragma once

#include <aten/cuda/Sleep.h>
