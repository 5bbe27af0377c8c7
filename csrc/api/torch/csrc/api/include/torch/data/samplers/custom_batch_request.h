#pragma once

#include <torch/data/samplers/custom_batch_request.h>
