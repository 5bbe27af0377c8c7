#pragma once

#include <csrc/data/samplers/sequential.h>
