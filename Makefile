.PHONY: shaders
shaders:
	@mkdir -p build && flock build/shaders.lock $(MAKE) --no-print-directory -f shaders/Makefile install
