#pragma once

#include <torch/xpu.h>
