#pragma once

#include <csrc/data/transforms/base.h>
#include <csrc/data/transforms/collate.h>
#include <csrc/data/transforms/lambda.h>
#include <csrc/data/transforms/stack.h>
#include <csrc/data/transforms/tensor.h>
