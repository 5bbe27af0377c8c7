#pragma once

#include <csrc/amp/grad_scaler.h>
