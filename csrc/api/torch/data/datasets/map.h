#pragma once

#include <csrc/data/datasets/map.h>
