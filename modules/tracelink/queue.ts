import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log, QueueStatus } from '#kernel'
import type { Attributes } from './attributes.ts'

/** Spans that wait or are under way. */
export const mostSpans = 2048
const mostBytes = 16 * 1024 * 1024
/** Of a span without its texts, roughly. */
const spanBytes = 1024

/** Spans that were not sent, over all instances of a configuration in this thread. */
export interface Dropped {
  count: number
}

/** The bounds of what waits for a collector, and the count of what it did not take. */
export class Queue {
  readonly #dropped: Dropped
  readonly #log: Log
  #depth = 0
  #bytes = 0
  #isFailing = false

  constructor(dropped: Dropped, log: Log) {
    this.#dropped = dropped
    this.#log = log
  }

  get status(): QueueStatus {
    return { depth: this.#depth, bytes: this.#bytes, dropped: this.#dropped.count }
  }

  /** Whether there is room for the spans of a call; they are dropped otherwise. */
  take(spans: readonly { readonly attributes: Attributes }[]): boolean {
    const bytes = sizeOf(spans)
    if (this.#depth + spans.length > mostSpans || this.#bytes + bytes > mostBytes) {
      this.#dropped.count += spans.length
      return false
    }
    this.#depth += spans.length
    this.#bytes += bytes
    return true
  }

  /** The same exporter; what it is done with makes room. */
  watched(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          this.#finish(spans, result.error)
          done(result)
        }),
      shutdown: () => exporter.shutdown(),
    }
  }

  #finish(spans: readonly ReadableSpan[], error: Error | undefined): void {
    this.#depth -= spans.length
    this.#bytes -= sizeOf(spans)
    if (error) this.#dropped.count += spans.length
    if (this.#isFailing === (error !== undefined)) return
    this.#isFailing = !this.#isFailing
    if (error) this.#log.warn({ problem: reasonOf(error) }, 'the collector takes no spans; they are dropped')
    else this.#log.info('the collector takes spans again')
  }
}

const sizeOf = (spans: readonly { readonly attributes: object }[]): number =>
  spans.reduce((sum, { attributes }) => sum + spanBytes + textBytes(attributes), 0)

function textBytes(attributes: object): number {
  let bytes = 0
  for (const value of Object.values(attributes)) if (typeof value === 'string') bytes += value.length
  return bytes
}

/** The reason without what the collector wrote, which can be anything. */
const reasonOf = (error: Error & { readonly code?: unknown }): string =>
  String(error.code ?? error.message).slice(0, 200)
