/* word_count counts lines, words and bytes of one note: {"name": "trip.md"} on stdin.
 * It sees one folder, /notes; a relative path works as well as an absolute one. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"

static char input[1 << 16];

static int fail(const char *message) {
    fprintf(stderr, "%s\n", message);
    return EXIT_FAILURE;
}

static int count(FILE *note) {
    unsigned long lines = 0, words = 0, bytes = 0;
    int inside = 0;
    for (int c; (c = getc(note)) != EOF; bytes++) {
        lines += c == '\n';
        words += !isspace(c) && !inside;
        inside = !isspace(c);
    }
    if (ferror(note)) return fail("That note could not be read.");
    printf("%lu lines, %lu words, %lu bytes\n", lines, words, bytes);
    return EXIT_SUCCESS;
}

int main(void) {
    char name[1024], path[1100];
    size_t size = fread(input, 1, sizeof input - 1, stdin);
    input[size] = '\0';
    if (!read_text_argument(input, "name", name, sizeof name)) return fail("Send the name of a note as text.");
    snprintf(path, sizeof path, "notes/%s", name);
    FILE *note = fopen(path, "rb");
    if (!note) return fail("There is no note of that name.");
    return count(note);
}
