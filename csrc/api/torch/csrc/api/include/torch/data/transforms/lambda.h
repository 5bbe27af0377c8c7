#pragma once

#include <torch/data/transforms/lambda.h>
