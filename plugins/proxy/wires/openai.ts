import type { z } from 'zod'
import {
  type Chunk,
  type CompletionChunk,
  envelope,
  type ModelRequest,
  type StreamEncoder,
  type Wire,
} from '#kernel'
import { ByteRun, encodeEvent } from '#kit'
import { type Fault, formCheck } from './form-check.ts'
import { refusalOf } from './refusal.ts'

type Parts = Pick<Wire, 'id' | 'path' | 'operation' | 'summary' | 'answer' | 'events'> & {
  readonly body: z.ZodType<object>
}

/** The wires of OpenAI differ in their bodies only: the canonical forms are theirs. */
export function openaiWire(parts: Parts): Wire {
  const faultOf = formCheck(parts.body)
  return {
    ...parts,
    decode: (body) => {
      const fault = faultOf(body)
      return fault === undefined ? (body as ModelRequest) : checked(parts.body, body, fault)
    },
    encode: (body) => body,
    encoder: (wire, request) =>
      new OpenaiEncoder(wire === parts.id, request.stream_options?.include_usage === true),
    error: envelope,
  }
}

/** Values of a body beyond which it takes zod too long to say what is wrong: it lists that for all of them. */
const many = 5_000

function hasMany(body: unknown): boolean {
  const values = [body]
  for (let at = 0; at < values.length && values.length <= many; at++) {
    const value = values[at]
    if (typeof value !== 'object' || value === null) continue
    for (const inner of Object.values(value)) if (values.push(inner) > many) break
  }
  return values.length > many
}

/**
 * Checks what the gateway relies on; fields it does not know go on as they are, for it is the body that goes on, not
 * what the schema makes of it.
 */
function checked(schema: z.ZodType<object>, body: unknown, fault: Fault): ModelRequest {
  if (hasMany(body)) throw refusalOf(fault)
  const result = schema.safeParse(body)
  if (result.success) return body as ModelRequest
  throw refusalOf(result.error.issues[0]!)
}

class OpenaiEncoder implements StreamEncoder {
  readonly #sameWire: boolean
  readonly #wantsUsage: boolean

  constructor(sameWire: boolean, wantsUsage: boolean) {
    this.#sameWire = sameWire
    this.#wantsUsage = wantsUsage
  }

  /** Unchanged events go out as the bytes they came in, neighbours in one piece. */
  chunks(batch: readonly Chunk[]): Buffer | string {
    const runs: ByteRun[] = []
    for (const chunk of batch) {
      if (!this.#wantsUsage && reportsUsageOnly(chunk.seen)) continue
      const bytes =
        chunk.raw && this.#sameWire ? chunk.raw : Buffer.from(encodeEvent(this.#shown(chunk.data)))
      if (!runs.at(-1)?.extend(bytes)) runs.push(new ByteRun(bytes))
    }
    if (runs.length <= 1) return runs[0]?.bytes ?? ''
    return Buffer.concat(runs.map((run) => run.bytes))
  }

  end(): string {
    return 'data: [DONE]\n\n'
  }

  fail(...[error, requestId]: Parameters<typeof envelope>): string {
    return encodeEvent(envelope(error, requestId))
  }

  #shown(data: CompletionChunk): CompletionChunk {
    if (this.#wantsUsage || !data.usage) return data
    const { usage: _, ...rest } = data
    return rest
  }
}

/** The gateway asks for usage on every stream; a client that did not ask does not get the chunk that only carries it. */
const reportsUsageOnly = (data: CompletionChunk | undefined): boolean =>
  !!data?.usage && data.choices.length === 0
