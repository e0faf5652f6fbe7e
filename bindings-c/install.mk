# Installing: part of the Makefile above. It copies what `make` has built, and builds nothing.
#
#   make install     PREFIX=/usr/local, LIBDIR=$(PREFIX)/lib, INCLUDEDIR, MANDIR, DOCDIR; below DESTDIR, if that is given
#   make uninstall   with the same variables: removes it
#   STRIP=           installs the libraries with their symbols

LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/fencepost
STRIP ?= strip

# All libraries that are there: not those that this call of make would build.
BUILT := $(patsubst $(LIB)/lib%.so.$(VERSION),%,$(wildcard $(LIB)/libfencepost*.so.$(VERSION)))
NEEDED := $(LIB)/libfencepost.so.$(VERSION) $(BUILT:%=$(LIB)/lib%.a) $(LIB)/libfencepost-client.so.$(VERSION) $(BUILD)/man/made
NOT_BUILT = $(filter-out $(wildcard $(NEEDED)),$(NEEDED))
# What there may be.
EVERY_LIBRARY := fencepost $(addprefix fencepost-,client zookeeper zookeeper-st redis redis-tls)
CMAKE_FILES := fencepost-config.cmake fencepost-config-version.cmake
# From the folder of the libraries to that of the headers: what is installed may be moved.
FROM_LIBDIR = $(shell realpath --canonicalize-missing --relative-to='$(LIBDIR)' '$(INCLUDEDIR)')
FILL_IN = sed -e 's|@INCLUDE@|$(FROM_LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@ABI@|$(ABI)|'

.PHONY: install uninstall
install:
	$(if $(NOT_BUILT),$(error nothing to install: $(BUILD) has no $(notdir $(firstword $(NOT_BUILT))). Run `make` first, without root's rights))
	install -d '$(DESTDIR)$(INCLUDEDIR)' '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(LIBDIR)/cmake/fencepost' \
	    '$(DESTDIR)$(MANDIR)/man3' '$(DESTDIR)$(DOCDIR)'
	install -m 644 $(HEADERS) '$(DESTDIR)$(INCLUDEDIR)'
	install -m 644 $(BUILD)/man/man3/*.3 '$(DESTDIR)$(MANDIR)/man3'
	install -m 644 $(WORKSPACE)/LICENSE '$(DESTDIR)$(DOCDIR)'
	set -e; to='$(DESTDIR)$(LIBDIR)'; for library in $(BUILT); do \
	    install -m 644 $(LIB)/lib$$library.so.$(VERSION) $(LIB)/lib$$library.a "$$to"; \
	    $(if $(STRIP),$(STRIP) --strip-unneeded "$$to/lib$$library.so.$(VERSION)"; $(STRIP) --strip-debug "$$to/lib$$library.a";) \
	    ln -sf lib$$library.so.$(VERSION) "$$to/lib$$library.so.$(ABI)"; \
	    ln -sf lib$$library.so.$(ABI) "$$to/lib$$library.so"; \
	    $(FILL_IN) pkgconfig/$$library.pc.in > "$$to/pkgconfig/$$library.pc"; \
	done; \
	for file in $(CMAKE_FILES); do $(FILL_IN) cmake/$$file.in > "$$to/cmake/fencepost/$$file"; done
	@echo 'installed below $(DESTDIR)$(PREFIX). For $(LIBDIR), run ldconfig, or link programs with -Wl,-rpath,$(LIBDIR).'

# Folders that others use stay. A later version of the library has other names, and is not this one's to remove.
uninstall:
	rm -f $(HEADERS:include/%='$(DESTDIR)$(INCLUDEDIR)/%') '$(DESTDIR)$(DOCDIR)/LICENSE' $(CMAKE_FILES:%='$(DESTDIR)$(LIBDIR)/cmake/fencepost/%')
	for library in $(EVERY_LIBRARY); do \
	    for end in so so.$(ABI) so.$(VERSION) a; do rm -f '$(DESTDIR)$(LIBDIR)/'lib$$library.$$end; done; \
	    rm -f '$(DESTDIR)$(LIBDIR)/pkgconfig/'$$library.pc; \
	done
	rm -f '$(DESTDIR)$(MANDIR)/man3/'fencepost*.3
	for folder in '$(LIBDIR)/cmake/fencepost' '$(DOCDIR)'; do \
	    [ ! -d '$(DESTDIR)'"$$folder" ] || rmdir --ignore-fail-on-non-empty '$(DESTDIR)'"$$folder"; \
	done
