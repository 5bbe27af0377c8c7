#pragma once

#include <csrc/data/datasets/subset.h>
