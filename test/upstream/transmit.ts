import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Recording } from './record.ts'
import type { Script } from './script.ts'
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
  await pause(script.delayMs, response)
  if (response.destroyed) return
  writeHead(answer, script, response)
  await pause(script.firstByteDelayMs, response)
  for (const [index, piece] of pieces(answer.frames, script.splitBytes).entries()) {
    if (index === script.cutAfter) return cut(recording, response)
    if (index === script.hangAfter) return
    if (index > 0) await pause(script.gapMs, response)
    if (response.destroyed) return
    await write(piece, response)
    recording.chunksSent += 1
    // Pieces must reach the client as separate reads, or splitting them proves nothing.
    if (script.splitBytes !== undefined) await nextTurn()
  }
  if (recording.chunksSent === script.cutAfter) return cut(recording, response)
  if (recording.chunksSent !== script.hangAfter) response.end()
}

function writeHead(answer: Answer, script: Script, response: ServerResponse): void {
  const headers = new Map(Object.entries(answer.headers))
  if (!answer.stream) headers.set('content-length', String(size(answer.frames)))
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

async function pause(ms: number | undefined, response: ServerResponse): Promise<void> {
  if (!ms || response.destroyed) return
  const left = new AbortController()
  const closed = once(response, 'close', { signal: left.signal }).catch(() => undefined)
  await Promise.race([sleep(ms, undefined, { signal: left.signal }).catch(() => undefined), closed])
  left.abort()
}

function cut(recording: Recording, response: ServerResponse): void {
  recording.broken = true
  response.socket?.destroy()
}

function reset(recording: Recording, response: ServerResponse): void {
  recording.broken = true
  response.socket?.resetAndDestroy()
}
