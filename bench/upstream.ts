import { createServer, type Socket } from 'node:net'
import { CLAUDE, MODEL, prose, REPLY_BYTES, STREAM_EVENTS } from './request.ts'

const CRLF2 = Buffer.from('\r\n\r\n')

const MESSAGE_HEAD = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: CLAUDE,
  stop_sequence: null,
}
const MESSAGE_USAGE = { input_tokens: 118, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

const httpChunk = (event: string): Buffer => Buffer.from(`${event.length.toString(16)}\r\n${event}\r\n`)

/** A complete plain answer, headers included. */
function plainReply(): Buffer {
  const make = (content: string) =>
    JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: MODEL,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content, refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 118, completion_tokens: 64, total_tokens: 182 },
      system_fingerprint: 'fp_bench',
    })
  return replyOf(
    make(prose(REPLY_BYTES - make('').length)),
    'x-request-id: req_bench',
    'openai-processing-ms: 1',
  )
}

/** The same answer from Anthropic. */
function messageReply(): Buffer {
  const make = (text: string) =>
    JSON.stringify({
      ...MESSAGE_HEAD,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { ...MESSAGE_USAGE, output_tokens: 64 },
    })
  return replyOf(make(prose(REPLY_BYTES - make('').length)), 'request-id: req_bench')
}

function replyOf(body: string, ...headers: string[]): Buffer {
  const head = [
    'HTTP/1.1 200 OK',
    'content-type: application/json',
    `content-length: ${body.length}`,
    ...headers,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Frames of a stream, each one HTTP chunk: role, numbered content, finish, usage when asked for, end. */
function streamFrames(usage: boolean): Buffer[] {
  const chunk = (choices: unknown[], fields: object = {}) =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model: MODEL,
      system_fingerprint: 'fp_bench',
      choices,
      ...(usage && { usage: null }),
      ...fields,
    })}\n\n`
  const delta = (delta: object, finish: string | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }])
  const numbered = Array.from({ length: STREAM_EVENTS }, (_, n) =>
    delta({ content: `w${String(n).padStart(3, '0')} ` }),
  )
  const total = { prompt_tokens: 118, completion_tokens: STREAM_EVENTS, total_tokens: 118 + STREAM_EVENTS }
  const events = [
    delta({ role: 'assistant', content: '', refusal: null }),
    ...numbered,
    delta({}, 'stop'),
    ...(usage ? [chunk([], { usage: total })] : []),
    'data: [DONE]\n\n',
  ]
  return events.map(httpChunk)
}

/** The same stream from Anthropic. */
function messageFrames(): Buffer[] {
  const event = (type: string, data: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
  const numbered = Array.from({ length: STREAM_EVENTS }, (_, n) =>
    event('content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: `w${String(n).padStart(3, '0')} ` },
    }),
  )
  const usage = { ...MESSAGE_USAGE, output_tokens: 1 }
  return [
    event('message_start', { message: { ...MESSAGE_HEAD, content: [], stop_reason: null, usage } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...numbered,
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: STREAM_EVENTS },
    }),
    event('message_stop', {}),
  ].map(httpChunk)
}

const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
)
const STREAM_END = Buffer.from('0\r\n\r\n')
const burstOf = (frames: readonly Buffer[]) => Buffer.concat([STREAM_HEAD, ...frames, STREAM_END])
const REPLY = plainReply()
const FRAMES = { with: streamFrames(true), without: streamFrames(false) }
const BURSTS = { with: burstOf(FRAMES.with), without: burstOf(FRAMES.without) }
const MESSAGE = messageReply()
const MESSAGE_FRAMES = messageFrames()
const MESSAGE_BURST = burstOf(MESSAGE_FRAMES)

function answer(socket: Socket, { path, body }: Pick<Request, 'path' | 'body'>): void {
  const isMessage = path.endsWith('/messages')
  if (!/"stream":\s*true/.test(body)) {
    socket.write(isMessage ? MESSAGE : REPLY)
    return
  }
  const usage = /"include_usage":\s*true/.test(body) ? 'with' : 'without'
  const pace = Number(/pace:(\d+);/.exec(body)?.[1] ?? 0)
  if (pace > 0) sendPaced(socket, isMessage ? MESSAGE_FRAMES : FRAMES[usage], pace)
  else socket.write(isMessage ? MESSAGE_BURST : BURSTS[usage])
}

/** Role and first content go out at once, then one event every so many milliseconds. */
function sendPaced(socket: Socket, frames: readonly Buffer[], ms: number): void {
  socket.write(Buffer.concat([STREAM_HEAD, ...frames.slice(0, 2)]))
  let next = 2
  const timer = setInterval(() => {
    const frame = frames[next]
    next += 1
    if (frame && !socket.destroyed) {
      socket.write(frame)
      return
    }
    clearInterval(timer)
    if (!socket.destroyed) socket.write(STREAM_END)
  }, ms)
}

interface Request {
  readonly path: string
  readonly body: string
  /** Where the next one starts. */
  readonly end: number
}

/** The first complete request in these bytes. */
function takeRequest(bytes: Buffer): Request | undefined {
  const headEnd = bytes.indexOf(CRLF2)
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const start = headEnd + CRLF2.length
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'))
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)) {
    const last = bytes.indexOf('0\r\n\r\n', start)
    return last < 0 ? undefined : { path, body: bytes.toString('latin1', start, last), end: last + 5 }
  }
  const end = start + Number(length ?? 0)
  return bytes.length < end ? undefined : { path, body: bytes.toString('latin1', start, end), end }
}

let answered = 0

/** Serves until the parent goes away; tells it the port, and on request how many calls were answered. */
const server = createServer({ noDelay: true }, (socket) => {
  let rest: Buffer | undefined
  socket.on('data', (data: Buffer) => {
    let bytes = rest ? Buffer.concat([rest, data]) : data
    for (let request = takeRequest(bytes); request; request = takeRequest(bytes)) {
      answered += 1
      answer(socket, request)
      bytes = bytes.subarray(request.end)
    }
    rest = bytes.length > 0 ? bytes : undefined
  })
  socket.on('error', () => socket.destroy())
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) process.send?.({ port: address.port })
})
process.on('message', () => process.send?.({ answered }))
process.on('disconnect', () => process.exit())
