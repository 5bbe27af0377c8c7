#pragma once

#include <torch/arg.h>
