#pragma once

#include <torch/data/transforms/base.h>
