# Front door only: every rule lives in meson.build, every stage in .ci/run.
B ?= build

all test bench soak: | $(B)
$(B):
	meson setup $(B) -Dwerror=true

all:
	ninja -C $(B)
test:
	meson test -C $(B) --print-errorlogs
bench:
	meson test -C $(B) --benchmark --verbose
asan tsan grind fuzz tidy:
	.ci/run $@
ci:
	.ci/run
portable:
	tools/portable x86_64
predictors: all
	tools/make-predictors $(B)/foretell . data/predictors
# Every set of tests/one-model, FORETELL_SHARED_DATA: with a folder of data that are not shipped.
accuracy: all
	tests/one-model $(B)/foretell . --all --against-evaluate --out $(B)/accuracy \
	    $${FORETELL_SHARED_DATA:+--shared "$$FORETELL_SHARED_DATA"}
	test -z "$$FORETELL_SHARED_DATA" || \
	    tests/one-model $(B)/foretell . --all --out $(B)/accuracy --own --shared "$$FORETELL_SHARED_DATA"
# What programs that are linked with the library rely on; tools/check-abi holds builds to it.
abi: all
	tools/check-abi $(B) accept
examples: all
	tools/run-examples $(B)/foretell $(B)/examples
soak: all
	tools/fuzz build-ci/fuzz 300
	tests/cli/kill $(B)/foretell $(B)/engines . 200
	$(B)/tests/test_collect . $(B)/engines 200
	$(B)/tests/test_properties . 100000
	tests/cli/kill-clocks $(B)/foretell . $(B)/tests/libfake-nvidia-ml.so 200
	tools/ci-zoo $(B) all
	tools/portable x86_64 aarch64
	tools/need qemu-user-static
	tests/portable $(B)/foretell $(B)/engines x86_64 aarch64
fmt:
	git ls-files '*.[ch]' | grep -vE '^(include|third_party)/' | xargs clang-format -i
.PHONY: all test bench accuracy examples abi predictors asan tsan grind fuzz tidy ci soak fmt portable
