import type { Log, QueueStatus } from '#kernel'
import { type Dropped, mostSpans, Queue } from './queue.ts'
import type { FinishedSpan } from './spans.ts'

const batchSize = 512
const delayMs = 500
/** For what is left when the module is switched off. */
const closeMs = 3000

export interface ExporterOptions {
  /** Where traces are posted. */
  readonly url: string
  /** Of the gateway. */
  readonly version: string
  readonly dropped: Dropped
  readonly log: Log
}

export interface Exporter {
  readonly status: QueueStatus
  /** Queues the spans of a call, or drops all of them if there is no room. Never waits. */
  send(spans: readonly FinishedSpan[]): void
  /** Sends what waits, as far as the collector takes it in a few seconds. */
  close(): Promise<void>
}

/**
 * Sends spans in batches to a collector, by OTLP over HTTP. What OpenTelemetry's own environment variables say about headers,
 * certificates, compression, time limits and the resource holds. OpenTelemetry's packages are loaded here and not before.
 */
export async function openExporter({ url, version, dropped, log }: ExporterOptions): Promise<Exporter> {
  const [api, sdk, otlp, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ])
  const queue = new Queue(dropped, log)
  const next = { traceId: '', spanId: '' }
  const provider = new sdk.TracerProvider({
    resource: resources
      .resourceFromAttributes({ 'service.name': 'switchyard', 'service.version': version })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    // What is not sampled does not come here.
    sampler: new sdk.AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => next.traceId, generateSpanId: () => next.spanId },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: queue.watched(new otlp.OTLPTraceExporter({ url, userAgent: `switchyard/${version}` })),
        maxQueueSize: mostSpans,
        maxExportBatchSize: batchSize,
        scheduledDelayMillis: delayMs,
      }),
    ],
  })
  const tracer = provider.getTracer('switchyard', version)

  const parentOf = ({ traceId, parentId: spanId, isParentRemote: isRemote, state }: FinishedSpan) => {
    if (spanId === undefined) return api.ROOT_CONTEXT
    const parent = { traceId, spanId, isRemote, traceFlags: api.TraceFlags.SAMPLED }
    return api.trace.setSpanContext(api.ROOT_CONTEXT, {
      ...parent,
      ...(state !== undefined && { traceState: api.createTraceState(state) }),
    })
  }

  function write(span: FinishedSpan): void {
    next.traceId = span.traceId
    next.spanId = span.spanId
    const kind = span.kind === 'server' ? api.SpanKind.SERVER : api.SpanKind.CLIENT
    const { name, start: startTime, attributes } = span
    const written = tracer.startSpan(name, { kind, startTime, attributes }, parentOf(span))
    if (span.failed) written.setStatus({ code: api.SpanStatusCode.ERROR })
    written.end(span.end)
  }

  return {
    get status() {
      return queue.status
    },
    send(spans) {
      if (queue.take(spans)) for (const span of spans) write(span)
    },
    async close() {
      const { promise: isLate, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, closeMs)
      await Promise.race([isLate, provider.shutdown().catch(() => undefined)])
      clearTimeout(timer)
    },
  }
}
