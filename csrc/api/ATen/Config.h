#pragma once

#include <aten/Config.h>
