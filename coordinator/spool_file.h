/*
 * A file of the spool in the making: bytes are appended or copied, hashed as they lie there, and at
 * the end everything is durable but the name (spool_sync). Its calls wait for the disk.
 *
 * What is hashed is what the service owns: a source that changes meanwhile cannot make the two
 * differ.
 */
#ifndef PAWL_COORDINATOR_SPOOL_FILE_H
#define PAWL_COORDINATOR_SPOOL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/spool.h"

#define SPOOL_DIGEST_BYTES 32
#define SPOOL_SLICE_BYTES (UINT64_C(4) << 20) /* what a call copies at most */

struct spool_file {
    struct spool *spool;
    char name[SPOOL_NAME_BYTES];
    int fd;         /* -1: none, or finished where the spool is a folder */
    uint64_t bytes; /* so far */
    uint64_t cloned_bytes;
    void *sha256;
    char first; /* byte that is no blank; 0: none so far */
    uint8_t digest[SPOOL_DIGEST_BYTES];
};

/* 0, or -errno with nothing left. */
int spool_file_create(struct spool_file *file, struct spool *spool);
/* Appends. 0 or -errno: then the file can only be dropped. */
int spool_file_write(struct spool_file *file, const void *data, size_t bytes);
/*
 * Appends the next slice of the file `from`, which has `bytes` altogether (no byte beyond them is
 * taken): as a reflink, by copy_file_range, or by read and write, whichever works first. How many
 * bytes came, 0 where `from` has ended; -errno.
 */
int64_t spool_file_copy(struct spool_file *file, int from, uint64_t bytes);
/* The digest of the bytes so far. 0 or -ENOMEM. */
int spool_file_hash(struct spool_file *file);
/*
 * The file is whole: hashed, and synced or sealed. With a folder fd is closed, else it can only be
 * read from now on. 0 or -errno: then it can only be dropped.
 */
int spool_file_finish(struct spool_file *file);
/* 1 where the bytes look like a JSON object's, which no witness does. */
int spool_file_is_json(const struct spool_file *file);
/* The file stays, its maker's memory goes; fd (-1 with a folder) is the caller's. */
void spool_file_release(struct spool_file *file);
/* Removes the file. */
void spool_file_drop(struct spool_file *file);

#endif
