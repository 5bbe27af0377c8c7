#pragma once

#include <csrc/data/datasets/base.h>
#include <csrc/data/datasets/chunk.h>
#include <csrc/data/datasets/cifar.h>
#include <csrc/data/datasets/map.h>
#include <csrc/data/datasets/mnist.h>
#include <csrc/data/datasets/shared.h>
#include <csrc/data/datasets/stateful.h>
#include <csrc/data/datasets/subset.h>
#include <csrc/data/datasets/tensor.h>
