#pragma once

#include <torch/data/samplers/base.h>
