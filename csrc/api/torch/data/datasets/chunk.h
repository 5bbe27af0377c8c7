#pragma once

#include <csrc/data/datasets/chunk.h>
