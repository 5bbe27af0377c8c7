#pragma once

#include <torch/data/dataloader/stateful.h>
