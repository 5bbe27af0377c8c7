// Memory for time: torch::utils::checkpoint.
#pragma once

#include <csrc/utils/checkpoint.h>
