#pragma once

#include <torch/data/samplers/stream.h>
