import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import protobuf from 'protobufjs'

/** A span as a collector got it: ids in hexadecimal, times in milliseconds since the epoch. */
export interface CollectedSpan {
  readonly name: string
  /** 2 is a server's, 3 a client's. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  /** Empty at the beginning of a trace. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly start: number
  readonly end: number
  readonly attributes: Readonly<Record<string, unknown>>
  /** 2 is an error. */
  readonly status: number
  readonly resource: Readonly<Record<string, unknown>>
}

/** A collector of traces, which reads OTLP over HTTP in protobuf. */
export interface Collector {
  readonly url: string
  readonly spans: CollectedSpan[]
  /** The headers of each request. */
  readonly requests: IncomingHttpHeaders[]
  /** From now on requests get this status, or no answer at all. */
  answer(how: number | 'hang'): void
  close(): Promise<void>
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const requests: IncomingHttpHeaders[] = []
  const hanging = new Set<ServerResponse>()
  let how: number | 'hang' = 200
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    requests.push(request.headers)
    if (how === 'hang') return hanging.add(response)
    const isTraces = request.method === 'POST' && request.url === '/v1/traces'
    const type = request.headers['content-type']
    if (!isTraces || type !== 'application/x-protobuf') return response.writeHead(404).end()
    if (how === 200)
      spans.push(...spansIn(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body))
    return response.writeHead(how, { 'content-type': 'application/x-protobuf' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    answer(next) {
      how = next
    },
    async close() {
      for (const response of hanging) response.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const field = (id: number, type: string) => ({ id, type })
const list = (id: number, type: string) => ({ id, type, rule: 'repeated' })

/** The messages of OTLP's protocol as far as spans of the gateway need them, with the numbers of their fields. */
const request = protobuf.Root.fromJSON({
  nested: {
    Request: { fields: { resourceSpans: list(1, 'ResourceSpans') } },
    ResourceSpans: { fields: { resource: field(1, 'Resource'), scopeSpans: list(2, 'ScopeSpans') } },
    Resource: { fields: { attributes: list(1, 'KeyValue') } },
    ScopeSpans: { fields: { spans: list(2, 'Span') } },
    Span: {
      fields: {
        traceId: field(1, 'bytes'),
        spanId: field(2, 'bytes'),
        traceState: field(3, 'string'),
        parentSpanId: field(4, 'bytes'),
        name: field(5, 'string'),
        kind: field(6, 'int32'),
        startTimeUnixNano: field(7, 'fixed64'),
        endTimeUnixNano: field(8, 'fixed64'),
        attributes: list(9, 'KeyValue'),
        status: field(15, 'Status'),
      },
    },
    Status: { fields: { message: field(2, 'string'), code: field(3, 'int32') } },
    KeyValue: { fields: { key: field(1, 'string'), value: field(2, 'AnyValue') } },
    AnyValue: {
      oneofs: { value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'] } },
      fields: {
        stringValue: field(1, 'string'),
        boolValue: field(2, 'bool'),
        intValue: field(3, 'int64'),
        doubleValue: field(4, 'double'),
        arrayValue: field(5, 'ArrayValue'),
      },
    },
    ArrayValue: { fields: { values: list(1, 'AnyValue') } },
  },
}).lookupType('Request')

interface WireValue {
  /** Which of the others it is. */
  readonly value?: string
  readonly arrayValue?: { readonly values: readonly WireValue[] }
  readonly [form: string]: unknown
}
type WireAttributes = readonly { readonly key: string; readonly value: WireValue }[]

interface WireSpan extends Pick<CollectedSpan, 'name' | 'kind' | 'traceState'> {
  readonly traceId: Uint8Array
  readonly spanId: Uint8Array
  readonly parentSpanId: Uint8Array
  readonly startTimeUnixNano: number
  readonly endTimeUnixNano: number
  readonly attributes: WireAttributes
  readonly status: { readonly code: number } | null
}

interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: WireAttributes }
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}

function spansIn(bytes: Uint8Array): CollectedSpan[] {
  const options = { longs: Number, defaults: true, arrays: true, oneofs: true }
  const { resourceSpans } = request.toObject(request.decode(bytes), options) as WireRequest
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, kind, traceState, ...span }) => ({
        name,
        kind,
        traceState,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        start: span.startTimeUnixNano / 1e6,
        end: span.endTimeUnixNano / 1e6,
        attributes: recordOf(span.attributes),
        status: span.status?.code ?? 0,
        resource: recordOf(resource.attributes),
      })),
    ),
  )
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const recordOf = (attributes: WireAttributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))

const plain = ({ value, ...forms }: WireValue): unknown =>
  value === 'arrayValue' ? forms.arrayValue?.values.map(plain) : forms[value!]
