#include "arguments.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static int read_hex(const char *at) {
    int value = 0;
    for (int digit = 0; digit < 4; digit++) {
        char c = at[digit];
        if (c >= '0' && c <= '9') value = value * 16 + (c - '0');
        else if (c >= 'a' && c <= 'f') value = value * 16 + (c - 'a' + 10);
        else if (c >= 'A' && c <= 'F') value = value * 16 + (c - 'A' + 10);
        else return -1;
    }
    return value;
}

/* Writes a code point as UTF-8 and returns the number of bytes. */
static size_t write_utf8(long point, char *out) {
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t extra = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
    for (size_t index = extra; index > 0; index--) {
        out[index] = (char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out[0] = (char)(first[extra] | point);
    return extra + 1;
}

/* Reads the escape at `*at`, just behind its backslash, and moves `*at` behind it. Negative: not an escape. */
static long read_escape(const char **at) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = *(*at)++;
    if (c != 'u') {
        const char *letter = c ? strchr(letters, c) : NULL;
        return letter ? (unsigned char)meanings[letter - letters] : -1;
    }
    long point = read_hex(*at);
    if (point < 0) return -1;
    *at += 4;
    if (point >= 0xD800 && point < 0xDC00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        long low = read_hex(*at + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            *at += 6;
            point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return point;
}

/* Reads the JSON text whose opening quote is at `at`. Returns the place behind its closing quote; NULL if it is broken
 * or too long. Without `value`, the text is skipped whatever its length. */
static const char *read_text(const char *at, char *value, size_t room) {
    size_t length = 0;
    for (at++; *at != '"';) {
        char bytes[4];
        size_t count = 1;
        if (*at == '\0') return NULL;
        if (*at == '\\') {
            at++;
            long point = read_escape(&at);
            if (point < 0 || (value && point == 0)) return NULL;
            count = write_utf8(point, bytes);
        } else {
            bytes[0] = *at++;
        }
        if (!value) continue;
        if (length + count >= room) return NULL;
        memcpy(value + length, bytes, count);
        length += count;
    }
    if (value) value[length] = '\0';
    return at + 1;
}

/* Returns the place behind the value at `at`, whatever it is; NULL if it never ends. */
static const char *skip_value(const char *at) {
    int depth = 0;
    do {
        at = skip_space(at);
        if (*at == '\0') return NULL;
        if (*at == '"') {
            at = read_text(at, NULL, 0);
            if (!at) return NULL;
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (*at == ',' || *at == ':') {
            at++;
        } else {
            at += strcspn(at, ",:{}[]\" \t\r\n");
        }
    } while (depth > 0);
    return at;
}

/* Returns the place of the value under `key` of the object `json`; NULL if there is none, or the text is broken. */
static const char *find_value(const char *json, const char *key) {
    char name[128];
    const char *at = skip_space(json);
    if (*at++ != '{') return NULL;
    for (at = skip_space(at); *at == '"'; at = skip_space(at)) {
        const char *behind = read_text(at, name, sizeof name);
        bool wanted = behind && strcmp(name, key) == 0;
        if (!behind) behind = read_text(at, NULL, 0);
        if (!behind) return NULL;
        at = skip_space(behind);
        if (*at++ != ':') return NULL;
        at = skip_space(at);
        if (wanted) return at;
        at = skip_value(at);
        if (!at) return NULL;
        at = skip_space(at);
        if (*at == ',') at++;
    }
    return NULL;
}

bool read_text_argument(const char *json, const char *key, char *value, size_t room) {
    const char *at = find_value(json, key);
    return at && *at == '"' && read_text(at, value, room);
}

bool read_number_argument(const char *json, const char *key, double *value) {
    const char *at = find_value(json, key);
    if (!at || (*at != '-' && (*at < '0' || *at > '9'))) return false;
    *value = strtod(at, NULL);
    return true;
}

bool read_boolean_argument(const char *json, const char *key, bool *value) {
    const char *at = find_value(json, key);
    if (!at || (*at != 't' && *at != 'f')) return false;
    *value = *at == 't';
    return true;
}
