#pragma once

#include <csrc/data/dataloader_options.h>
