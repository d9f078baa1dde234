/* A small libnvidia-ml: three GPUs, of which 0 counts energy and tells power,
 * 1 tells power only, and 2 is lost. Each look at the counter moves it by 5 J. */
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
const char *nvmlErrorString(int code);

enum { NOT_SUPPORTED = 3, GPU_IS_LOST = 15 };

static int gpus[3];
static unsigned long long counter = 1000000;

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = 3;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &gpus[index];
    return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    *milliwatts = 61500;
    return device == &gpus[2] ? GPU_IS_LOST : 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
    if (device != &gpus[0])
        return device == &gpus[1] ? NOT_SUPPORTED : GPU_IS_LOST;
    *millijoules = counter += 5000;
    return 0;
}

const char *nvmlErrorString(int code)
{
    return code == GPU_IS_LOST ? "GPU is lost" : "Not Supported";
}
