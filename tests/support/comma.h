/* A locale with a decimal comma, until setlocale(LC_ALL, "C"). */
#ifndef SUPPORT_COMMA_H
#define SUPPORT_COMMA_H
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int comma_is_set(const char *name)
{
    return setlocale(LC_ALL, name) && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* One that is installed, or else one that localedef makes. 0: there is none, which is said. */
static inline int comma_take(void)
{
    static const char *const installed[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "nl_NL.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof installed / sizeof *installed; i++)
        if (comma_is_set(installed[i])) return 1;
    char folder[] = "/tmp/certreg_locale_XXXXXX", command[200];
    int found = 0;
    if (mkdtemp(folder)) {
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de 2>/dev/null", folder);
        setenv("LOCPATH", folder, 1);
        found = system(command) == 0 && comma_is_set("de"); /* which stays in memory */
        unsetenv("LOCPATH");
        snprintf(command, sizeof command, "rm -r %s", folder);
        if (system(command)) fprintf(stderr, "%s could not be removed\n", folder);
    }
    if (!found) printf("skip no locale has a decimal comma: install the Debian package locales\n");
    return found;
}

#endif
