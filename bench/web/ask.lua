-- wrk: each request another batch, clock or device of ResNet-50; FORETELL_OPS=1: with its operations.
--   wrk -t1 -c8 -d10s -s bench/web/ask.lua http://localhost:8127
local devices = {"a100-sxm-80gb", "h100-sxm", "l4", "t4", "a30", "l40s", "a10", "v100-sxm2-16gb"}
local n, summary = 0, os.getenv("FORETELL_OPS") and "false" or "true"
request = function()
  n = n + 1
  local body = string.format('{"model":"resnet50.onnx","device":"%s","batch":%d,"clock":"%d","summary":%s}',
    devices[n % #devices + 1], math.floor(n / #devices) % 16 + 1, 800 + math.floor(n / 128) % 400, summary)
  return wrk.format("POST", "/v1/predict", {["Content-Type"] = "application/json"}, body)
end
