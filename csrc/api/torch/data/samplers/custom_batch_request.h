#pragma once

#include <csrc/data/samplers/custom_batch_request.h>
