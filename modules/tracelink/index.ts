import { z } from 'zod'
import { defineModule, kernelServices } from '#kernel'
import { endpointSchema, tracesUrl } from './endpoint.ts'
import { type Exporter, openExporter } from './exporter.ts'
import { Ids } from './ids.ts'
import type { Dropped } from './queue.ts'
import { type Joined, spansOf } from './spans.ts'
import { joinTrace, traceparent } from './trace-context.ts'

export default defineModule({
  settings: z.strictObject({
    otlp_endpoint: endpointSchema.optional().meta({
      title: 'Collector',
      description:
        'Address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`. OTEL_EXPORTER_OTLP_ENDPOINT without it; no spans are kept or sent if neither is set.',
    }),
    sample_ratio: z.number().min(0).max(1).default(1).meta({
      title: 'Sampled',
      description:
        'Share of the traces that begin here which are sampled, from 0 to 1. For a trace that a client brings, its own decision holds.',
    }),
    capture_content: z.boolean().default(false).meta({
      title: 'Content',
      description: 'Whether spans have the texts of requests and answers, as the guards have left them.',
    }),
  }),

  async setup(context) {
    const { id, settings, slot, memory, mode, log, own, use } = context
    const { otlp_endpoint, sample_ratio, capture_content } = settings
    if (mode === 'shadow') return {}
    const joined = slot<{ at?: Joined }>(() => ({}))
    const ids = new Ids()
    const url = tracesUrl(otlp_endpoint, use(kernelServices.environment))
    let exporter: Exporter | undefined
    if (url !== undefined) {
      const { version } = use(kernelServices.runtime)
      const dropped = memory<Dropped>('dropped', () => ({ count: 0 }))
      const opened = await openExporter({ url, version, dropped, log })
      own(() => opened.close())
      own(use(kernelServices.queues).add(id, () => opened.status))
      exporter = opened
    }

    return {
      pure: true,
      request(call) {
        const context = joinTrace(call.context.headers, sample_ratio, ids)
        joined(call).at = { context, attempts: new Map() }
        call.trace.header('traceresponse', traceparent(context, context.spanId))
        return undefined
      },
      attempt(attempt, call, headers) {
        const { at } = joined(call)
        if (!at) return
        const spanId = ids.span()
        at.attempts.set(attempt.identity, spanId)
        headers.traceparent = traceparent(at.context, spanId)
        if (at.context.state !== undefined) headers.tracestate = at.context.state
      },
      settled(outcome, call) {
        const { at } = joined(call)
        if (!at) return
        const { traceId, spanId, parentId, isSampled } = at.context
        call.trace.facts.trace_context = {
          trace_id: traceId,
          span_id: spanId,
          ...(parentId !== undefined && { parent_id: parentId }),
          sampled: isSampled,
          attempts: call.trace.attempts.map(({ identity }) => at.attempts.get(identity) ?? null),
        }
        if (exporter && isSampled) exporter.send(spansOf(at, call, outcome, capture_content))
      },
    }
  },
})
