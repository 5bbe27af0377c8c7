#pragma once

#include <aten/cuda/cub.h>
