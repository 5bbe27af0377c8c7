#pragma once

#include <torch/data/samplers/sequential.h>
