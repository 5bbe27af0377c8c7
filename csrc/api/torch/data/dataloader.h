#pragma once

#include <csrc/data/dataloader.h>
