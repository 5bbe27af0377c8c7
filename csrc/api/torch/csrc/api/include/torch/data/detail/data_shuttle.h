#pragma once

#include <torch/data/detail/data_shuttle.h>
