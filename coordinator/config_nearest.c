/*
 * "Did you mean": the name with the least edit distance, where that is small. Called for unknown
 * keys and sections.
 */
#include "coordinator/config_internal.h"

#include <string.h>

#define NAME_MAX_LENGTH 64

static size_t least(size_t a, size_t b, size_t c)
{
    size_t low = a < b ? a : b;

    return low < c ? low : c;
}

/* Levenshtein's distance, one row at a time; names of more than NAME_MAX_LENGTH are far from all.
 */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_LENGTH + 1], a_length = strlen(a), b_length = strlen(b);

    if (a_length > NAME_MAX_LENGTH || b_length > NAME_MAX_LENGTH)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_length];
}

const char *config_nearest(const char *text, const char *(*each)(void *arg, size_t i), void *arg)
{
    size_t best = 1 + (strlen(text) + 1) / 2; /* further off is no help */
    const char *nearest = NULL, *name;

    for (size_t i = 0; (name = each(arg, i)); i++) {
        size_t distance = edit_distance(text, name);
        if (distance < best) {
            best = distance;
            nearest = name;
        }
    }
    return nearest;
}
