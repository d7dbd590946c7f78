import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { serviceHeaders } from './headers.ts'

/** An unstreamed answer; the script's own body wins over the one that was made. */
export function plain(request: RecordedRequest, script: Script, make: () => unknown): Answer {
  const body = script.body === undefined ? make() : script.body
  const frame = typeof body === 'string' ? body : JSON.stringify(body, null, 2)
  return { status: 200, headers: serviceHeaders(request, 'application/json'), stream: false, frames: [frame] }
}

/** A streamed answer; the script's own frames win over the chunks that were made, and over `[DONE]`. */
export function streamed(request: RecordedRequest, script: Script, make: () => readonly unknown[]): Answer {
  const frames = script.chunks ?? [...make().map(frame), 'data: [DONE]\n\n']
  return {
    status: 200,
    headers: serviceHeaders(request, 'text/event-stream; charset=utf-8'),
    stream: true,
    frames,
  }
}

function frame(chunk: unknown): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
