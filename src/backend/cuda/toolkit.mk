# The CUDA module is built where nvcc, cuBLAS and cuRAND's header are; NVCC= builds without it. One
# binary for Turing to Blackwell, as far as this nvcc knows them.
ifeq ($(origin NVCC),undefined)
NVCC := $(shell command -v nvcc 2>/dev/null || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
endif
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
ifneq ($(words $(wildcard $(addprefix $(CUDA_HOME)/include/,cublas_v2.h curand_philox4x32_x.h))),2)
override NVCC :=
endif
CUDA_ARCH ?= $(if $(NVCC),$(filter 75 80 86 89 90 100 120,$(shell $(NVCC) --list-gpu-arch | \
    sed 's/compute_//')))
CUDA_ARCH := $(CUDA_ARCH)
