/*
 * The operations of ptx_operations.h, compiled for any machine.
 */
#include "tests/softcuda/ptx_operations.h"
#include "tests/softcuda/ptx_lanes_template.h"
#include "tests/softcuda/ptx_alu32_template.h"
#include "tests/softcuda/ptx_carry_template.h"
#include "tests/softcuda/ptx_alu64_template.h"
#include "tests/softcuda/ptx_compare_template.h"

#define OPERATIONS_TABLE ptx_operations_portable
#include "tests/softcuda/ptx_table_template.h"
