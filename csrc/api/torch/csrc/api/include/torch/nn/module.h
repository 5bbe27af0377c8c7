#pragma once

#include <torch/nn/module.h>
