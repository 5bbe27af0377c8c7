#pragma once

#include <csrc/data/transforms/lambda.h>
