/* Runs the SQL statements of its arguments, one after the other, in a new database in memory. DuckDB's npm package has
   its library but no header and no program, so this declares what it uses of DuckDB's C API. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    unsigned long long counts[3];
    void *columns;
    char *message;
    void *data;
} result;

static void *library;

static void *function(const char *name) {
    void *f = dlsym(library, name);
    if (!f) {
        fprintf(stderr, "duckdb: %s\n", dlerror());
        exit(2);
    }
    return f;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: duckdb LIBRARY STATEMENT...\n");
        return 2;
    }
    if (!(library = dlopen(arguments[1], RTLD_NOW))) {
        fprintf(stderr, "duckdb: %s\n", dlerror());
        return 2;
    }
    int (*open)(const char *, void **) = function("duckdb_open");
    int (*connect)(void *, void **) = function("duckdb_connect");
    int (*query)(void *, const char *, result *) = function("duckdb_query");
    const char *(*error)(result *) = function("duckdb_result_error");
    void (*destroy)(result *) = function("duckdb_destroy_result");
    void *database, *connection;
    if (open(NULL, &database) || connect(database, &connection)) {
        fprintf(stderr, "duckdb: no database\n");
        return 1;
    }
    for (int i = 2; i < count; i++) {
        result answer;
        if (query(connection, arguments[i], &answer)) {
            fprintf(stderr, "duckdb: %s\n", error(&answer));
            return 1;
        }
        destroy(&answer);
    }
    return 0;
}
