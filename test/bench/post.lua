-- For wrk: posts JSON with a key, and prints what autocannon would have said of the round.
wrk.method = "POST"
wrk.body = os.getenv("LOAD_BODY")
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer " .. os.getenv("LOAD_API_KEY")

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    'RESULT {"requestsPerSecond":%f,"p99Ms":%f,"failed":%d}\n',
    summary.requests / summary.duration * 1e6, latency:percentile(99) / 1000, failed))
end
