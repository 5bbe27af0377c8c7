#pragma once

#include <aten/cuda/CUDASparse.h>
