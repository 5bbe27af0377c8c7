// The whole library.
#pragma once

#include <torch/all.h>
