from torch._inductor.async_compile import AsyncCompile
async_compile = AsyncCompile()

triton_poi_fused_relu_0 = async_compile.triton('triton_', '''
@triton_heuristics.pointwise(size_hints=[4096, 512])
@triton.jit
def triton_(in_ptr0, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 3000
    xnumel = 500
''', device_str='cuda')

def call(args):
    arg0_1, arg1_1, arg2_1 = args
    args.clear()
    assert_size_stride(arg0_1, (64, 32), (32, 1))
    assert_size_stride(arg1_1, (4, 64, 32), (2048, 32, 1))
    assert_size_stride(arg2_1, (4, 32, 16), (512, 16, 1))
    with torch.cuda._DeviceGuard(0):
        buf0 = empty_strided_cuda((64, 48), (48, 1), torch.float16)
        extern_kernels.mm(arg0_1, reinterpret_tensor(arg2_1, (32, 48), (48, 1), 0), out=buf0)
        buf1 = empty_strided_cuda((4, 64, 16), (1024, 16, 1), torch.float32)
        extern_kernels.bmm(arg1_1, arg2_1, out=buf1)
        stream0 = get_raw_stream(0)
        triton_poi_fused_relu_0.run(buf0, buf1, 3000, 500, grid=grid(3000, 500), stream=stream0)
        triton_poi_fused_relu_0.run(buf0, buf1, 3000, s0, grid=grid(3000, s0), stream=stream0)
        torch.ops.aten._scaled_dot_product_flash_attention.default(buf0, buf1)
    return (buf0, )

def benchmark_compiled_module(times=10, repeat=10):
    arg0_1 = rand_strided((64, 32), (32, 1), device='cuda:0', dtype=torch.float16)
    arg1_1 = rand_strided((4, 64, 32), (2048, 32, 1), device='cuda:0', dtype=torch.bfloat16)
