# make build     the tool, bin/vkds (needs Go and gcc alone)
# make windows   the tool for Windows, bin/vkds.exe; make arm64: that for Linux on 64-bit Arm, bin/vkds-arm64
# make dist      an archive of the tool for each of these systems, with licences and checksums, in bin/dist
# make demo      set-up, build, and a run on real data that checks its own answers
# make test      set-up, and all tests on every driver and subgroup size that a machine without a GPU has
# make t         one package's tests on one driver: PKG=./structures/slabhash, and if you like RUN=TestX, DRIVER=4
# make hooks     has git format and check each commit (scripts/pre-commit)
# make check     what can be said without a device: shaders, format, vet, staticcheck, links of the documentation
# make shaders   the SPIR-V of the kernels whose sources changed
# make fences    the list of what orders memory in the kernels, shaders/fences.txt
# make stress    the tests again and again, and the long ones, in parts
# make bench     a benchmark of the tool on the best device here, and of what Go programs have without it
# make film      the picture at the top of README.md, from PAGE, a page of "vkds trace", or from this machine's device
# make view-deps what the window of "vkds view" needs, on Debian 12 or 13: then "go build -tags glfw ./cmd/vkds"
# make deps      what the others need, on Debian 12 or 13; nothing is done when nothing is missing

.PHONY: build windows arm64 dist demo test t hooks check shaders fresh fences stress bench peers deps view-deps clean
.NOTPARALLEL:

# The commit goes into the tool, which prints it beside its figures; a tree that git won't speak of has none.
tool = vkds
build:
	go build -buildvcs=$$(git rev-parse --quiet --verify HEAD >/dev/null 2>&1 && echo true || echo false) -o bin/$(tool) ./cmd/vkds

# The tool for other systems than this one, by Debian's compilers for them.
windows = GOOS=windows GOARCH=amd64 CGO_ENABLED=1 CC=x86_64-w64-mingw32-gcc
windows:
	$(windows) $(MAKE) --no-print-directory build tool=vkds.exe
arm64 = GOOS=linux GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc
arm64:
	$(arm64) $(MAKE) --no-print-directory build tool=vkds-arm64

dist: deps
	scripts/dist

# What ours is compared with is a module of its own, so that it is no dependency of whoever imports the library.
peers-module = internal/tool/bench/peers
peers:
	go -C $(peers-module) build -buildvcs=false -o $(CURDIR)/bin/peers .

deps:
	@scripts/deps
view-deps:
	@scripts/deps view

demo:
	@scripts/deps demo
	$(MAKE) --no-print-directory build
	scripts/demo

# One at a time: an editor and a terminal may both ask for it.
compile-shaders = @mkdir -p build && flock build/shaders.lock $(MAKE) --no-print-directory -j$$(nproc) -f shaders/Makefile

shaders:
	$(compile-shaders) install
fresh:
	$(compile-shaders) fresh
fences: shaders
	go test -count=1 -run TestFences ./shaders -update

# Tests don't take what somebody has measured on this machine (vkds tune).
check test: export VKDS_TUNING = none

# A sixth of the time of Go's tools is the collection of their garbage, so they collect less often. (scripts/each-driver
# leaves the tests themselves at the default.) Another tenth is what debuggers read, and nothing here does.
check test: export GOGC = 400
check test: export GOMEMLIMIT = 3GiB
check test: export GOFLAGS += -gcflags=all=-dwarf=false

# staticcheck is pinned in a module of its own, too. It takes seven minutes of processor time where nothing is cached,
# more than CI has to spare: that leaves it to whoever changes something, and to "make stress".
.PHONY: checks cross lint
check: checks cross lint
checks: fresh
	@unformatted=$$(gofmt -l $$(find . -name '*.go' -not -path '*/.*')) && test -z "$$unformatted" || { echo "not gofmt's format: $$unformatted"; exit 1; }
	go vet ./...
	go vet -tags glfw ./internal/tool/draw ./cmd/vkds
	CGO_ENABLED=0 go test -count=1 -run TestWithoutVulkan ./vk
	go -C $(peers-module) test -count=1 -vet=all ./...
	go -C $(outside-module) vet ./...
	go -C $(page-module) vet ./...
	go -C $(serve-module) vet ./...
	go -C arrow test -count=1 -vet=all ./...
	go test -count=1 $(of-sources)
# Compilers for systems of which the checks look at the types alone (test/systems).
cross:
	CGO_ENABLED=0 GOARCH=386 go build ./...
	CGO_ENABLED=0 GOARCH=arm go build ./vk/... ./structures/...
	CGO_ENABLED=0 GOOS=windows go build ./vk/... ./structures/... && CGO_ENABLED=0 GOOS=windows go vet ./internal/tool/outfile
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build ./vk/... ./structures/... && CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go vet ./vk ./cmd/vkds
lint:
	$$(go -C internal/tools tool -n staticcheck) -tags glfw ./internal/tool/draw ./cmd/vkds
	$$(go -C internal/tools tool -n staticcheck) ./...
	staticcheck=$$(go -C internal/tools tool -n staticcheck) && cd $(peers-module) && $$staticcheck ./...
	staticcheck=$$(go -C internal/tools tool -n staticcheck) && cd $(outside-module) && $$staticcheck ./...
	staticcheck=$$(go -C internal/tools tool -n staticcheck) && cd $(page-module) && $$staticcheck ./...
	staticcheck=$$(go -C internal/tools tool -n staticcheck) && cd $(serve-module) && $$staticcheck ./...
	staticcheck=$$(go -C internal/tools tool -n staticcheck) && cd arrow && $$staticcheck ./...

# The drivers that run without a GPU. Each test binary is linked once, without what debuggers read, and runs on all of
# them in turn, on each without what another one finds (package test/pass); "make check" has vetted it.
# Go's test cache doesn't know what a driver reads, so it is not used.
verdicts = VKDS_VERDICTS=$(CURDIR)/build/verdicts
go-test = VKDS_CONFORMED=$(CURDIR)/build/conformed $(verdicts) \
	go test -count=1 -vet=off -ldflags='-s -w' -timeout 30m -exec '$(CURDIR)/scripts/each-driver $(1)' $(2)
brief-test = BRIEF=1 $(go-test)

# The packages whose tests open a device, and all the others behind them; and those that don't. They start in this order:
# first those that take longest, so that the cores end together.
longest-first = ./cmd/vkds ./test/conformance ./test/shader ./structures/graph/... ./test/linearizability \
	./structures/slabhash ./internal/engine/recording ./structures/btree ./test/faults ./vk ./structures/... ./...
on-device = $$(go list -test -f '{{.ImportPath}} {{.Deps}}' $(longest-first) | awk '/\.test .*vkds\/vk[] ]/ { sub(/\.test$$/, "", $$1); print $$1 }')
elsewhere = $$(go list ./... | grep -vxF -e "$(on-device)" -e "$$(go list $(of-sources))")
# These test sources alone. The checks have them behind vet, when what they load is compiled.
of-sources = ./test/docs ./test/generics ./test/systems

# For whoever works on one package: all of its tests, none of them left to another driver.
DRIVER = 8
t:
	go test -count=1 -vet=off -ldflags='-s -w' -exec '$(CURDIR)/scripts/each-driver $(DRIVER)' $(if $(RUN),-run '$(RUN)') $(PKG)

hooks:
	@hook=$$(git rev-parse --git-path hooks)/pre-commit && mkdir -p "$${hook%/*}" && printf '#!/bin/sh\nexec scripts/pre-commit\n' >"$$hook" && chmod +x "$$hook"

.PHONY: film beside tests test-outside test-page test-serve test-window test-drivers test-width-4 test-width-8 test-width-16 test-swiftshader test-validation test-radv test-race test-chaos chaos-kernels unconformed test-conformed test-skipped test-took
test: export ALL = 1
# What keeps one core busy and no more runs beside the others, and its output comes after theirs. Kernels with delays come
# last, because they want all cores.
test: unconformed
	@scripts/deps here
	@mkdir -p build; $(MAKE) --no-print-directory --keep-going beside >build/beside 2>&1 & beside=$$!; \
	$(MAKE) --no-print-directory tests; failed=$$?; \
	wait $$beside || failed=$$?; cat build/beside; exit $$failed
beside: checks test-page test-serve test-radv
tests: test-outside test-race test-drivers test-chaos test-took test-skipped test-conformed
# The tool has windows here, so that it is compiled once; test/serve has one without.
test-drivers:
	$(call brief-test,8,$(elsewhere))
	$(call brief-test,swiftshader 4 16 validated 8,$(with-window) $(on-device))
# A user's programs, in a module of their own, are built as users build theirs. A test is compiled with the package that it
# tests, and so can't find faults in how the linker combines generic functions (docs/notes/generic-closures.md). Which
# copies the linker takes depends on the program, so each file with parts makes a small one.
outside-module = test/outside
test-outside:
	@rm -rf build/outside && mkdir -p build/outside
	cd $(outside-module) && shared=$$(grep -L '^func init' *.go) && for part in $$(grep -l '^func init' *.go); do \
		go build -buildvcs=false -ldflags='-s -w' -o $(CURDIR)/build/outside/$${part%.go} $$shared $$part || exit; \
	done
	for program in build/outside/*; do GALLIVM_PERF=nopt LP_NUM_THREADS=0 scripts/each-driver 8 $$program || exit; done
# The page of a trace in headless Chromium. What drives that is a module of its own.
page-module = test/page
test-page:
	GALLIVM_PERF=nopt go -C $(page-module) test -count=1 -vet=off -ldflags='-s -w' -exec '$(CURDIR)/scripts/each-driver 8' .
# Servers that are killed, and a stock client. What asks them is a module of its own.
serve-module = test/serve
test-serve:
	VKDS_STRESS=$(VKDS_STRESS) go -C $(serve-module) test -count=1 -vet=off -timeout $(if $(VKDS_STRESS),3h,10m) .
# The window of "vkds view" on an X server without a screen.
with-window = -tags glfw
test-window:
	GALLIVM_PERF=nopt $(call go-test,8,$(with-window) ./internal/tool/draw)
	GALLIVM_PERF=nopt $(call go-test,8,$(with-window) -run '^TestWindow' ./cmd/vkds)
film: build
	$(if $(PAGE),,bin/$(tool) trace --sample split -o build/split.html)
	go -C $(page-module) run ./film $(abspath $(or $(PAGE),build/split.html)) $(CURDIR)/docs/pictures/split.gif
test-width-4:
	$(call brief-test,4,$(on-device))
test-width-8:
	$(call brief-test,8,./...)
test-width-16:
	$(call brief-test,16,$(on-device))
test-swiftshader:
	$(call brief-test,swiftshader,$(on-device))
test-validation:
	$(call brief-test,validated,$(on-device))
# Programs for other systems, emulated: Windows by Wine, 64-bit Arm by qemu, both on lavapipe. Compiling them takes minutes,
# so "make stress" has them, and CI the types alone (test/systems).
.PHONY: test-windows test-arm64
elsewhere-test = $(verdicts) $(2) go test -count=1 -vet=off -ldflags='-s -w' -timeout 3h \
	-exec '$(CURDIR)/scripts/each-driver $(1)'
on-windows = $(windows) VKDS_TOOL=Z:$(CURDIR)/bin/vkds.exe $(call elsewhere-test,wine,scripts/under-wine)
on-arm64 = $(arm64) VKDS_TOOL=$(CURDIR)/scripts/vkds-arm64 $(call elsewhere-test,arm64)
emulated = ./vk ./internal/engine/slabs ./structures/slabhash ./structures/btree ./structures/lsm ./internal/tool/dictfile ./internal/tool/outfile
test-windows: deps windows
	$(on-windows) $(emulated) ./cmd/vkds
test-arm64: deps arm64
	$(on-arm64) $(emulated) ./cmd/vkds
# What several goroutines share of one handle. The race detector sees Go's memory, so kernels are compiled as elsewhere.
test-race: export GALLIVM_PERF = nopt
test-race:
	$(call go-test,8,-race -run 'FirstEntry|Room' ./internal/tool/serve/...)
	$(call go-test,8,-race ./internal/engine/gate ./structures/combine ./test/goroutines)
	$(call go-test,both,-race -run '^TestTwoDevices$$' ./test/goroutines)
	$(call go-test,both,-race -run '^Test(ClosedDevice|FewFirstKeys|SnapshotsAtOneMoment|SplitPointsChange)$$' ./structures/shard)
	$(call go-test,both,-run '^TestShards$$' ./test/conformance)
# What a run of the conformance tests has left out, for want of 64-bit atomics or of lanes, another one has taken.
unconformed:
	@rm -rf build/conformed build/verdicts && mkdir -p build/verdicts
test-conformed:
	@awk -F '\t' '$$1 == "ran" { ran[$$2] } $$1 == "left out" { out[$$2] } \
		END { if (!length(ran)) out["everything"]; for (s in out) if (!(s in ran)) { print "left out by every run: " s; bad = 1 } exit bad }' build/conformed
# Which packages took most processor time, which tests took longest, on which driver, and how long each driver's took
# together: one after the other.
test-took:
	@for what in processor ran; do \
		cat build/verdicts/* | awk -F '\t' -v what=$$what '$$1 == what && $$3 !~ /: .*\// { print $$2 "\t" $$3 "\t" $$4 }' | sort -rn | \
		awk -F '\t' -v what=$$what 'BEGIN { print what ":" } NR <= 30 { print $$1 " s on " $$3 ": " $$2 } { of[$$3] += $$1 } END { for (d in of) printf "%.0f s on %s\n", of[d], d }'; \
	done
# Which tests were skipped, on which drivers, and why. Each that was left to another pass was run in one, and each that
# there is was run or has said why not.
test-skipped:
	@cat build/verdicts/* | awk -F '\t' '$$3 ~ /^test\/pass: / { next } $$1 == "ran" { ran[$$3] } $$1 == "listed" { left[$$3] } \
		$$1 == "skipped" { on[$$3 ": " $$5] = on[$$3 ": " $$5] " " $$4; if ($$5 ~ /^left to another pass/) left[$$3]; else told[$$3] } \
		END { for (t in on) print "skipped on" on[t] ": " t | "sort"; close("sort"); \
			for (t in left) if (!(t in ran) && !(t in told)) { print "ran in no pass: " t; bad = 1 } exit bad }'
# AMD's compiler alone, for GPUs that aren't there: kernels are compiled, none is run.
test-radv:
	$(call go-test,vega10 navi31,-run TestEveryModuleCompiles -v ./vk)

# Kernels that wait at random at every access that others make, too, and take vectors' addresses as GPUs do
# (shaders/include/chaos.glsl): a short part, and for "make stress" all that share memory with others.
chaos = $(CURDIR)/build/chaos
chaos-of = %
with-chaos = -ldflags='-s -w -X github.com/vkds/vkds/shaders.chaos=$(chaos)'
with-chaos-gpu = -ldflags='-s -w -X github.com/vkds/vkds/shaders.chaos=$(chaos)-gpu'
chaos-kernels:
	$(compile-shaders) chaos CHAOS_OF='$(chaos-of)'
	VKDS_CHAOS=$(chaos) go test -count=1 -vet=off $(with-chaos) -run TestChaosIsLinked ./shaders
test-chaos: chaos-of = alloc/% btree/% graph/% runs/pack% \
	$(addprefix primitives/,clear compact% iota scan% sort%) $(addprefix test/,btree% slab% words)
test-chaos: chaos-kernels
	$(call brief-test,chaos,$(with-chaos) -run 'Program|OfStreams|RootSplits|WhileKeysChange|ListTogether|MovingClock' \
		./test/linearizability ./structures/btree ./test/shader)

# The tests again and again, and the long ones, in parts. Each can be run alone, at a WIDTH of 4, 8 or 16 lanes or on
# swiftshader; "make -k stress" goes on behind a part that failed. STRESS multiplies what is left to chance: 1 is for
# an evening on two cores, 10 for a large machine.
#   stress-long-WIDTH     all tests in their long forms, once
#   stress-often-WIDTH    what threads and chance have a part in, STRESS times
#   stress-threads-WIDTH  the same, half as often, with more threads of the driver than there are cores: 4, and 16
#   stress-chaos-WIDTH    concurrent kernels, in the long forms of their tests, once, with random delays
#   stress-gpu            what often and chaos run, on this machine's GPU; not in "make stress"
#   stress-radv           each kernel by AMD's compiler at each subgroup size of a GPU that has two
#   stress-serve          servers that are killed, paused, cut off and loaded (docs/serve.md), for 20 minutes
# What one driver finds as well as another is left out as it is in "make test".
STRESS = 1
drivers = 4 8 16 swiftshader

# Recording and the order of equal keys are the same each time, and delays are for the packages with concurrent kernels.
concurrent-packages = $$(go list ./alloc/... ./internal/engine/... ./structures/... ./test/goroutines ./test/linearizability \
	./test/shader ./test/types \
	| grep -v -e /recording -e /sequential -e /enum -e /gate -e /joint -e /saved -e /threads)
chaos-packages = ./internal/engine/slabs ./structures/primitives ./structures/slabhash ./structures/btree ./test/snapshots \
	./structures/graph ./structures/graph/ordered ./test/linearizability ./test/shader ./test/types
stress-test = $(call brief-test,$(1),-timeout 6h $(2))
concurrent-tests = $(call stress-test,$(1),$(2) $(3)) && \
	$(call stress-test,$(1),$(2) -run 'Concurrent|WithSplits|UpdatesOfTypes' ./test/conformance)

stress-parts = $(foreach part,long often chaos,$(drivers:%=stress-$(part)-%)) $(patsubst %,stress-threads-%,4 8 16)
.PHONY: $(stress-parts) stress-gpu stress-radv stress-serve
stress: lint cross $(stress-parts) stress-radv stress-serve test-windows test-arm64
stress-serve:
	$(MAKE) --no-print-directory test-serve VKDS_STRESS=$(STRESS)
stress-gpu: deps
	$(compile-shaders) chaos-gpu
	VKDS_CHAOS=$(chaos)-gpu go test -count=1 -vet=off $(with-chaos-gpu) -run TestChaosIsLinked ./shaders
	$(call concurrent-tests,gpu,-count=$(STRESS),$(concurrent-packages))
	export VKDS_STRESS=$(STRESS) && $(call concurrent-tests,gpu,$(with-chaos-gpu),$(chaos-packages))
stress-radv: deps
	VKDS_STRESS=$(STRESS) $(call go-test,navi31,-run TestEveryModuleCompiles -v ./vk)
stress-long-4 stress-long-8 stress-long-16 stress-long-swiftshader: stress-long-%: deps
	VKDS_STRESS=$(STRESS) $(call stress-test,$*,$(if $(filter 8,$*),./...,$(on-device)))
stress-often-4 stress-often-8 stress-often-16 stress-often-swiftshader: stress-often-%: deps
	$(call concurrent-tests,$*,-count=$(STRESS),$(concurrent-packages))
stress-threads-4 stress-threads-8 stress-threads-16: stress-threads-%: deps
	export LP_NUM_THREADS=4 && $(call concurrent-tests,$*,-count=$$((($(STRESS) + 1) / 2)),$(concurrent-packages))
	export LP_NUM_THREADS=16 && $(call concurrent-tests,$*,-count=$$((($(STRESS) + 1) / 2)),$(concurrent-packages))
stress-chaos-4 stress-chaos-8 stress-chaos-16 stress-chaos-swiftshader: stress-chaos-%: deps chaos-kernels
	export VKDS_STRESS=$(STRESS) && $(call concurrent-tests,$*,$(with-chaos),$(chaos-packages))

bench: build peers
	bin/vkds bench slabhash --op build,find-all,end-to-end --json bin/bench.json
	bin/peers bin/bench.json

clean:
	rm -rf bin build/spv build/traced build/chaos build/chaos-gpu build/shaders
