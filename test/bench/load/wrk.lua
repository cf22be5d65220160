-- For wrk: makes the requests of a load, and prints what became of them as JSON.
wrk.method = os.getenv("LOAD_METHOD")
wrk.path = os.getenv("LOAD_PATH")
wrk.headers["authorization"] = "Bearer " .. os.getenv("LOAD_API_KEY")
local body = os.getenv("LOAD_BODY")
if body ~= "" then
  wrk.body = body
  wrk.headers["content-type"] = "application/json"
end

local first = tonumber(os.getenv("LOAD_FIRST"))
local shipments = tonumber(os.getenv("LOAD_SHIPMENTS"))
issued = 0

-- As shipmentName in shipments.ts.
local function shipment(number)
  return string.format("SHP-%012d", (number * 8999999993) % 1000000000000)
end

-- As customerNumber in shipments.ts.
local function customer(number)
  if number % 2 == 0 then return string.format("%d", number / 2 % 100) end
  return string.format("%d", 1000 + number)
end

-- Only a load that varies pays for making each request by itself.
if wrk.path:find("{shipment}", 1, true) or body:find("{customer}", 1, true) then
  function request()
    local number = first + issued
    issued = issued + 1
    local path = wrk.path:gsub("{shipment}", shipment(number % shipments + 1))
    if body == "" then return wrk.format(nil, path) end
    return wrk.format(nil, path, nil, (body:gsub("{customer}", customer(number))))
  end
end

local threads = {}
function setup(thread) table.insert(threads, thread) end

function done(summary, latency)
  local errors = summary.errors
  local all = summary.requests
  for _, thread in ipairs(threads) do all = math.max(all, thread:get("issued")) end
  io.write(string.format(
    'RESULT {"requests":%d,"requestsPerSecond":%f,"medianMs":%f,"p99Ms":%f,"failed":%d,"issued":%d}\n',
    summary.requests, summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout, all))
end
