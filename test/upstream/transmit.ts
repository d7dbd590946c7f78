import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import {
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  createZstdCompress,
} from 'node:zlib'
import type { Recording } from './record.ts'
import type { Gate, Script } from './script.ts'
import type { Answer } from './wire.ts'

/** Sends an answer with the delays, cuts and stalls of its script. Returns when it is sent or the client has left. */
export async function transmit(
  answer: Answer,
  script: Script,
  recording: Recording,
  response: ServerResponse,
): Promise<void> {
  if (script.drop) return reset(recording, response)
  if (script.hang) return
  const { gate } = script
  if (gate && gate.after === undefined) await passed(gate, response)
  await pause(script.delayMs, response)
  if (response.destroyed) return
  writeHead(answer, script, response)
  await pause(script.firstByteDelayMs, response)
  const { coding } = script
  const frames = coding ? await packed(answer.frames, coding) : answer.frames
  for (const [index, piece] of pieces(frames, script.splitBytes).entries()) {
    if (index === script.cutAfter) return cut(recording, response)
    if (index === script.hangAfter) return
    if (index === script.endAfter) break
    if (gate && index === gate.after) await passed(gate, response)
    if (index > 0) await pause(script.gapMs, response)
    if (response.destroyed) return
    await (script.splitBytes === undefined ? write(piece, response) : writeApart(piece, response))
    recording.chunksSent += 1
  }
  if (recording.chunksSent === script.cutAfter) return cut(recording, response)
  while (script.endless !== undefined && !response.destroyed) {
    await write(script.endless, response)
    await nextTurn()
  }
  if (recording.chunksSent !== script.hangAfter) response.end()
}

function writeHead(answer: Answer, script: Script, response: ServerResponse): void {
  const headers = new Map(Object.entries(answer.headers))
  if (!answer.stream && !script.coding) headers.set('content-length', String(size(answer.frames)))
  if (script.coding) headers.set('content-encoding', script.coding.replace('-raw', ''))
  if (script.retryAfter !== undefined) headers.set('retry-after', String(script.retryAfter))
  for (const [name, value] of Object.entries(script.headers ?? {})) {
    if (value === null) headers.delete(name.toLowerCase())
    else headers.set(name.toLowerCase(), value)
  }
  response.writeHead(answer.status, Object.fromEntries(headers))
  response.flushHeaders()
}

function size(frames: Answer['frames']): number {
  return frames.reduce((sum, frame) => sum + Buffer.byteLength(frame), 0)
}

function pieces(frames: Answer['frames'], split: Script['splitBytes']): readonly (string | Uint8Array)[] {
  if (split === undefined) return frames
  const whole = Buffer.concat(frames.map((frame) => Buffer.from(frame)))
  const offsets = typeof split === 'number' ? every(split, whole.length) : [...split].sort((a, b) => a - b)
  const bounds = [0, ...offsets.filter((offset) => offset > 0 && offset < whole.length), whole.length]
  return bounds.slice(1).map((end, index) => whole.subarray(bounds[index], end))
}

function every(step: number, length: number): number[] {
  if (!(step >= 1)) throw new RangeError('splitBytes must be 1 or more')
  return Array.from({ length: Math.ceil(length / step) }, (_, index) => index * step)
}

async function write(piece: string | Uint8Array, response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    response.write(piece, () => resolve())
  })
}

/**
 * Sends a piece that reaches the client as a read of its own, or splitting proves nothing. It goes to the socket in one
 * write: a response makes three of each, which is most of what a stream of single bytes costs.
 */
async function writeApart(piece: string | Uint8Array, response: ServerResponse): Promise<void> {
  const { socket, chunkedEncoding } = response
  if (!socket || piece.length === 0) return
  const bytes = Buffer.from(piece)
  const framed = chunkedEncoding
    ? Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
    : bytes
  await new Promise<void>((resolve) => {
    if (socket.write(framed, () => resolve())) resolve()
  })
  await nextTurn()
}

const packers = {
  gzip: createGzip,
  br: createBrotliCompress,
  deflate: createDeflate,
  'deflate-raw': createDeflateRaw,
  zstd: createZstdCompress,
}

/** Each frame packed as far as it goes, and what ends the whole. */
async function packed(
  frames: Answer['frames'],
  coding: NonNullable<Script['coding']>,
): Promise<readonly Uint8Array[]> {
  const packer = packers[coding]()
  const packs: Uint8Array[] = []
  for (const frame of frames) {
    packer.write(frame)
    await new Promise<void>((resolve) => packer.flush(() => resolve()))
    const pack: Buffer[] = []
    for (let part = packer.read(); part !== null; part = packer.read()) pack.push(part as Buffer)
    packs.push(Buffer.concat(pack))
  }
  packer.end()
  return [...packs, Buffer.concat(await packer.toArray())]
}

async function pause(ms: number | undefined, response: ServerResponse): Promise<void> {
  if (!ms) return
  const ended = new AbortController()
  const { signal } = ended
  await unlessClosed(
    sleep(ms, undefined, { signal }).catch(() => undefined),
    response,
  )
  ended.abort()
}

const passed = ({ opened }: Gate, response: ServerResponse): Promise<void> => unlessClosed(opened, response)

/** Waits for that, or until the client has left. */
async function unlessClosed(event: Promise<unknown>, response: ServerResponse): Promise<void> {
  if (response.destroyed) return
  const ended = new AbortController()
  const closed = once(response, 'close', { signal: ended.signal }).catch(() => undefined)
  await Promise.race([event, closed])
  ended.abort()
}

function cut(recording: Recording, response: ServerResponse): void {
  recording.broken = true
  response.socket?.destroy()
}

function reset(recording: Recording, response: ServerResponse): void {
  recording.broken = true
  response.socket?.resetAndDestroy()
}
