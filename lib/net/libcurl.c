#include "net/libcurl.h"

#include <dlfcn.h>
#include <string.h>

#define NAME "libcurl.so.4"

#define SYMBOL(name)                                                                   \
    {                                                                                  \
        "curl_" #name, offsetof(struct bz_libcurl, name)                               \
    }

int bz_libcurl_load(struct bz_libcurl *out, struct bz_err *err)
{
    static const struct {
        const char *name;
        size_t at;
    } symbols[] = {
        SYMBOL(global_init),   SYMBOL(global_cleanup),   SYMBOL(easy_init),
        SYMBOL(easy_cleanup),  SYMBOL(easy_setopt),      SYMBOL(easy_getinfo),
        SYMBOL(easy_strerror), SYMBOL(multi_init),       SYMBOL(multi_cleanup),
        SYMBOL(multi_setopt),  SYMBOL(multi_add_handle), SYMBOL(multi_remove_handle),
        SYMBOL(multi_perform), SYMBOL(multi_poll),       SYMBOL(multi_info_read),
        SYMBOL(slist_append),  SYMBOL(slist_free_all),
    };
    /* Never closed: it may have started threads of its own, which look up names. */
    void *lib = dlopen(NAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (!lib)
        return bz_fail(err, BZ_E_NOSUP,
                       "HTTP needs %s, which cannot be loaded: install libcurl4", NAME);
    for (size_t i = 0; i < BZ_COUNTOF(symbols); i++) {
        void *p = dlsym(lib, symbols[i].name);

        if (!p)
            return bz_fail(err, BZ_E_NOSUP, "%s has no %s: it is too old", NAME,
                           symbols[i].name);
        memcpy((char *)out + symbols[i].at, &p, sizeof(p));
    }
    return 0;
}
