// Datasets, samplers, transforms and loaders.
#pragma once

#include <csrc/data/dataloader.h>
#include <csrc/data/datasets.h>
#include <csrc/data/samplers.h>
#include <csrc/data/transforms.h>

namespace torch::data {

using datasets::BatchDataset;
using datasets::Dataset;

} // namespace torch::data
