#pragma once

#include <aten/core/GeneratorForPrivateuseone.h>
