#pragma once

#include <torch/data/samplers/random.h>
