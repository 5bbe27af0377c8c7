#pragma once

#include <torch/amp/grad_scaler.h>
