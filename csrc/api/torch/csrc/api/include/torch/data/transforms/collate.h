#pragma once

#include <torch/data/transforms/collate.h>
