#pragma once

#include <aten/TracerMode.h>
