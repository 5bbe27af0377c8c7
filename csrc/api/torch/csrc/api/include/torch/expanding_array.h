#pragma once

#include <torch/expanding_array.h>
