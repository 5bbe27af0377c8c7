#pragma once

#include <torch/data/dataloader.h>
