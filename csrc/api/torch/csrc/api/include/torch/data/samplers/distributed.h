#pragma once

#include <torch/data/samplers/distributed.h>
