#pragma once

#include <torch/optim/adamw.h>
