/*
 * Folders that processes share and sweep: a folder in use is locked (flock) by its user, and one
 * without a lock was left by a killed one. No state of its own.
 */
#ifndef PAWL_SYNTH_WORKER_FOLDER_H
#define PAWL_SYNTH_WORKER_FOLDER_H

/* Opens the folder, made with its parents where it is not there (0700). fd or -errno. */
int folder_open_made(const char *path);
/* Removes `name` below the folder, a file or a folder with all in it; follows no link. */
void folder_remove(int parent_fd, const char *name);
/* Calls each with the names in the folder `name` of the parent, and with that folder's fd. */
void folder_each(int parent_fd, const char *name,
                 void (*each)(void *arg, int folder_fd, const char *name), void *arg);
/* Removes a file that nobody has locked; 1 where it is gone. */
int folder_unlink_unlocked(int folder_fd, const char *name);
/* Removes the folders below it whose names begin with the prefix and that nobody has locked. */
void folder_sweep_unlocked(int folder_fd, const char *prefix);

#endif
