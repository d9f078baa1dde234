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
# A Debian package, and with the wheel everything of a release, in dist/.
deb:
	tools/deb
release:
	tools/release
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
# The picture in README.md, by Chromium.
picture: all
	$(B)/foretell predict data/models/resnet50.onnx --device a30,l4,h100-sxm --batch 8 --html $(B)/page.html -q > $(B)/page.txt
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1430 \
	    --screenshot=docs/page.png file://$(CURDIR)/$(B)/page.html
# docs/index.html, and reports of all commands that write one in build/gallery.
gallery: all
	tools/make-pages
	tools/make-pages $(B)/foretell $(B)/gallery
examples: all
	tools/run-examples $(B)/foretell $(B)/examples
soak: all
	tools/fuzz build-ci/fuzz 300
	tools/fuzz build-ci/fuzz 3600 web
	tests/answers/answers compare $(B)/foretell
	tests/cli/kill $(B)/foretell $(B)/engines . 200
	tests/store_postgres $(B)/foretell $(B)/engines . --all
	bench/store $(B)/foretell 10000000
	$(B)/tests/test_collect . $(B)/engines 200
	$(B)/tests/test_properties . 100000
	tests/cli/kill-clocks $(B)/foretell . $(B)/tests/libfake-nvidia-ml.so 200
	tools/need slurmctld slurmd slurm-client
	bench/web/flat $(B)/foretell 1000000
	tests/cli/fleet $(B)/foretell $(B)/engines . 20
	for i in 1 2 3 4; do $(B)/foretell explore front examples/anywhere/space.yaml --shard $$i/4 >$(B)/front-$$i.csv || exit 1; done
	$(B)/foretell explore front examples/anywhere/space.yaml >$(B)/front.csv
	$(B)/foretell explore front examples/anywhere/space.yaml $(B)/front-[1-4].csv | cmp - $(B)/front.csv
	tools/ci-zoo $(B) all
	tools/ci-python $(B)/python all
	tools/portable x86_64 aarch64
	tools/need debootstrap
	tools/deb build-deb/dist && tests/deb build-deb/dist/foretell_*.deb
	tools/need qemu-user-static stress-ng
	tests/portable $(B)/foretell $(B)/engines x86_64 aarch64
	tools/under-load $(B)
fmt:
	git ls-files '*.[ch]' | grep -vE '^(include|third_party)/' | xargs clang-format -i
.PHONY: all test bench accuracy examples gallery picture abi predictors asan tsan grind fuzz tidy ci soak fmt portable deb release
