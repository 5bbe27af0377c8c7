#pragma once

#include <csrc/data/datasets/cifar.h>
