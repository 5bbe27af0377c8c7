#pragma once

#include <torch/detail/static.h>
