#pragma once

#include <aten/detail/PrivateUse1HooksInterface.h>
