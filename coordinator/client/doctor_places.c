/*
 * What `pawl doctor` looks at of the service's places: who may reach them; see doctor.h.
 */
#include "coordinator/client/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of the service: who may write there may put other files in the place of its own. */
static void look_at_folder(struct doctor_finding *finding, const char *path, const char *what)
{
    struct stat status;

    if (stat(path, &status)) {
        int absent = errno == ENOENT;
        doctor_find(finding, absent ? DOCTOR_OK : DOCTOR_FAIL,
                    absent ? NULL : "run as the user of the service", "%s %.200s: %s", what, path,
                    absent ? "not there yet; the coordinator makes it" : strerror(errno));
    } else if (!S_ISDIR(status.st_mode)) {
        doctor_find(finding, DOCTOR_FAIL, "move it away", "%s %.200s is no folder", what, path);
    } else if (status.st_mode & 022 && !(status.st_mode & S_ISVTX)) {
        doctor_find(finding, DOCTOR_FAIL, "chmod go-w on it",
                    "%s %.200s: others may write there (mode %03o)", what, path,
                    (unsigned)status.st_mode & 0777);
    } else if (access(path, R_OK | W_OK | X_OK)) {
        doctor_find(finding, DOCTOR_WARN, "run as the user of the service",
                    "%s %.200s belongs to uid %u", what, path, (unsigned)status.st_uid);
    } else {
        doctor_find(finding, DOCTOR_OK, NULL, "%s %.200s: mode %03o", what, path,
                    (unsigned)status.st_mode & 0777);
    }
}

void doctor_look_at_run_dir(struct doctor_finding *finding, const struct doctor_place *place)
{
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%s", place->socket);
    char *slash = strrchr(folder, '/');
    if (slash && slash != folder)
        *slash = '\0';
    look_at_folder(finding, slash ? folder : ".", "the socket's folder");
}

void doctor_look_at_state_dir(struct doctor_finding *finding, const struct doctor_place *place)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char path[PATH_MAX];

    if (place->state_dir) {
        look_at_folder(finding, place->state_dir, "state_dir");
        return;
    }
    if (geteuid() == 0)
        snprintf(path, sizeof(path), "%s/var/lib/pawl", place->root);
    else if (state && *state)
        snprintf(path, sizeof(path), "%s%s/pawl", place->root, state);
    else
        snprintf(path, sizeof(path), "%s%s/.local/state/pawl", place->root, home ? home : "");
    look_at_folder(finding, path, "state_dir, unless it is configured,");
}

void doctor_look_at_socket(struct doctor_finding *finding, const struct doctor_place *place)
{
    char path[PATH_MAX];
    struct stat status;

    snprintf(path, sizeof(path), "%s.http", place->socket);
    if (stat(path, &status))
        doctor_find(finding, DOCTOR_OK, errno == ENOENT ? NULL : "run as the user of the service",
                    "%.200s: %s", path,
                    errno == ENOENT ? "no service listens there now" : strerror(errno));
    else if (!S_ISSOCK(status.st_mode))
        doctor_find(finding, DOCTOR_FAIL, "move it away", "%.200s is no socket", path);
    else if (access(path, W_OK))
        doctor_find(finding, DOCTOR_WARN, "set http_group in [pawl] to a group of this user",
                    "%.200s is not this user's to connect to", path);
    else if (status.st_mode & 002)
        doctor_find(finding, DOCTOR_FAIL, "restart the coordinator, which sets 0600 or 0660",
                    "%.200s is open to everybody", path);
    else
        doctor_find(finding, DOCTOR_OK, NULL, "%.200s may be connected to (mode %03o)", path,
                    (unsigned)status.st_mode & 0777);
}
