/*
 * Sizes of a batch of additions (batch_template_ifma.h). Private to msm/.
 *
 * BATCH_ROWS, which is set for each group before the templates are included, is how many rows of
 * eight points a thread works on at a time; with half as many prefixes they should stay in its
 * second-level cache: 800 KiB for 1,024 rows in BN254's G1, as much for 512 in its G2, 1.3 MiB in
 * BLS12-381's.
 */
#ifndef PAWL_KERNELS_MSM_BATCH_IFMA_H
#define PAWL_KERNELS_MSM_BATCH_IFMA_H

#include <stdint.h>

enum { BATCH_CHAINS = 4, BATCH_BLOCK = 4 };

#define BATCH_PAIRS (BATCH_ROWS / 2)
#define BATCH_RAGGED 0x80000000u

/* Row numbers; q may carry BATCH_RAGGED. */
struct batch_pair {
    uint32_t p, q;
};

#endif
