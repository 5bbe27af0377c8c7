#pragma once

#include <torch/data/dataloader/stateless.h>
