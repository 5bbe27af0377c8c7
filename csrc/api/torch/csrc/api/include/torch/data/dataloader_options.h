#pragma once

#include <torch/data/dataloader_options.h>
