/*
 * Mapped circuit images by hash. Called by synth.c. Mappings end with the process: a SIGKILL leaves
 * nothing.
 */
#include "synth-worker/synth_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int64_t find(const struct synth_images *images, const uint8_t hash[IMAGE_HASH_BYTES])
{
    for (uint32_t i = 0; i < images->count; i++)
        if (!memcmp(images->image[i]->hash, hash, IMAGE_HASH_BYTES))
            return i;
    return -1;
}

static int append(struct synth_images *images, struct synth_image *image)
{
    struct synth_image **grown =
        realloc(images->image, ((size_t)images->count + 1) * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    images->image = grown;
    grown[images->count++] = image;
    return 0;
}

static int map_checked(struct synth_image *image, int fd, const char **what)
{
    int status = image_map(&image->image, fd, what);
    if (status)
        return status;
    if (!memcmp(image->image.header->hash, image->hash, IMAGE_HASH_BYTES))
        return 0;
    image_unmap(&image->image);
    *what = "hash";
    return -EBADMSG;
}

int synth_images_add(struct synth_images *images, const uint8_t hash[IMAGE_HASH_BYTES], int fd,
                     const char **what)
{
    int64_t known = find(images, hash);
    if (known >= 0) {
        images->image[known]->forgotten = 0;
        return 0;
    }
    *what = "memory";
    struct synth_image *image = calloc(1, sizeof *image);
    if (!image)
        return -ENOMEM;
    memcpy(image->hash, hash, IMAGE_HASH_BYTES);
    int status = map_checked(image, fd, what);
    if (!status && (status = append(images, image)))
        image_unmap(&image->image);
    if (status)
        free(image);
    return status;
}

const struct image *synth_images_use(struct synth_images *images,
                                     const uint8_t hash[IMAGE_HASH_BYTES])
{
    int64_t known = find(images, hash);
    if (known < 0)
        return NULL;
    images->used = images->image[known];
    return &images->used->image;
}

static void drop(struct synth_images *images, uint32_t index)
{
    image_unmap(&images->image[index]->image);
    free(images->image[index]);
    images->image[index] = images->image[--images->count];
}

void synth_images_release(struct synth_images *images)
{
    const struct synth_image *used = images->used;
    images->used = NULL;
    if (used && used->forgotten)
        synth_images_forget(images, used->hash);
}

void synth_images_forget(struct synth_images *images, const uint8_t hash[IMAGE_HASH_BYTES])
{
    int64_t known = find(images, hash);
    if (known < 0)
        return;
    if (images->image[known] == images->used)
        images->image[known]->forgotten = 1;
    else
        drop(images, (uint32_t)known);
}
