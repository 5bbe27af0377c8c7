#pragma once

#include <csrc/data/datasets.h>
