#pragma once

#include <csrc/data/datasets/mnist.h>
