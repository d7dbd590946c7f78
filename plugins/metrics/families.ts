/** A metric: what it is called, what it counts, and how. */
export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** Upper bounds of a histogram's buckets, ascending; the one without a bound is added. */
  readonly bounds?: readonly number[]
  /** What a stored value is multiplied with: sums are kept in whole units. */
  readonly scale?: number
}

const nano = 1e-9
const callSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300]
const tokenSeconds = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30]
const ownSeconds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

const counter = (name: string, help: string, scale?: number): Family => ({
  name,
  type: 'counter',
  help,
  ...(scale !== undefined && { scale }),
})
const gauge = (name: string, help: string): Family => ({ name, type: 'gauge', help })
const histogram = (name: string, help: string, bounds: readonly number[]): Family => ({
  name,
  type: 'histogram',
  help,
  bounds,
})

/** What calls add to, in the order of the answer. */
export const summed = {
  calls: counter('switchyard_calls_total', 'Model calls that ended, by how they ended.'),
  callSeconds: histogram(
    'switchyard_call_duration_seconds',
    'Time of a call from its request to the last byte of its answer.',
    callSeconds,
  ),
  firstTokenSeconds: histogram(
    'switchyard_time_to_first_token_seconds',
    'Time of a streamed call to the first content that the client got.',
    tokenSeconds,
  ),
  overheadSeconds: histogram(
    'switchyard_overhead_seconds',
    'Time of a call that was not spent waiting for providers.',
    ownSeconds,
  ),
  inputTokens: counter('switchyard_input_tokens_total', 'Tokens of prompts, cached ones included.'),
  outputTokens: counter('switchyard_output_tokens_total', 'Tokens of answers, reasoning included.'),
  cachedTokens: counter(
    'switchyard_cached_input_tokens_total',
    "Tokens of prompts that came from providers' caches.",
  ),
  reasoningTokens: counter('switchyard_reasoning_tokens_total', 'Tokens of answers that were reasoning.'),
  cost: counter('switchyard_cost_usd_total', 'Cost of calls in USD, as far as prices are known.', nano),
  cacheHits: counter('switchyard_cache_hits_total', "Calls that were answered from the gateway's cache."),
  saved: counter(
    'switchyard_cache_saved_usd_total',
    'What answers from the cache would have cost in USD.',
    nano,
  ),
  attempts: counter('switchyard_upstream_attempts_total', 'Tries at providers, by what came of them.'),
  attemptSeconds: histogram(
    'switchyard_upstream_duration_seconds',
    'Time of a try at a provider, to the last byte of its answer.',
    callSeconds,
  ),
  refused: counter(
    'switchyard_refused_calls_total',
    'Calls that the gateway refused, such as for a limit or their content, by module and type of error.',
  ),
  findings: counter('switchyard_guard_findings_total', 'What guards found in calls, and what they did.'),
} as const satisfies Record<string, Family>

/** What is read when somebody asks. */
export const read = {
  inFlight: gauge('switchyard_calls_in_flight', 'Model calls that run now.'),
  failedKeys: counter('switchyard_failed_keys_total', 'Requests with a wrong key, while these are limited.'),
  queueDepth: gauge('switchyard_queue_depth', 'Entries that wait in a queue.'),
  queueBytes: gauge('switchyard_queue_bytes', 'Size of what waits in a queue.'),
  queueDropped: counter('switchyard_queue_dropped_total', 'Entries that a queue had to drop.'),
  plugins: gauge('switchyard_plugins', 'Plugins by their state.'),
  generation: gauge(
    'switchyard_generation',
    'Number of the arrangement of plugins and settings that is in use.',
  ),
  storeHealthy: gauge('switchyard_store_healthy', 'Whether nothing is wrong with the store: 1, else 0.'),
  threads: gauge('switchyard_threads', 'Threads that answer model calls.'),
  info: gauge('switchyard_build_info', 'Always 1; the labels say what runs.'),
  leftOut: counter(
    'switchyard_metrics_left_out_total',
    'Figures without a place because a metric has its most series.',
  ),
  resident: gauge('process_resident_memory_bytes', 'Memory of the process.'),
  heap: gauge('nodejs_heap_size_used_bytes', 'Memory of JavaScript objects in the first thread.'),
  cpu: counter('process_cpu_seconds_total', 'Processor time of the process, user and system.'),
  startTime: gauge('process_start_time_seconds', 'When the gateway started, in seconds since the epoch.'),
} as const satisfies Record<string, Family>
