#pragma once

#include <torch/optim/adadelta.h>
