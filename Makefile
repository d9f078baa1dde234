# Front door only: every rule lives in meson.build, every stage in .ci/run.
B ?= build
CLANG_SANITIZED = CC=clang meson setup -Db_lundef=false

all test bench grind: | $(B)
$(B):
	meson setup $(B) -Dwerror=true

all:
	ninja -C $(B)
test:
	meson test -C $(B) --print-errorlogs
bench:
	meson test -C $(B) --benchmark --verbose
grind:
	meson test -C $(B) --print-errorlogs --no-suite slow --timeout-multiplier 20 \
	    --wrap='valgrind -q --leak-check=full --error-exitcode=9'
asan:
	[ -d $(B)-asan ] || $(CLANG_SANITIZED) $(B)-asan -Db_sanitize=address,undefined
	meson test -C $(B)-asan --print-errorlogs --timeout-multiplier 4
tsan:
	[ -d $(B)-tsan ] || $(CLANG_SANITIZED) $(B)-tsan -Db_sanitize=thread -Donednn=disabled
	meson test -C $(B)-tsan --print-errorlogs --timeout-multiplier 4
fuzz:
	tools/fuzz $(B)-fuzz 20
soak:
	tools/fuzz $(B)-fuzz 300
	tools/kill-collect $(B) 200
fmt:
	git ls-files '*.[ch]' | xargs clang-format -i
.PHONY: all test bench grind asan tsan fuzz soak fmt
