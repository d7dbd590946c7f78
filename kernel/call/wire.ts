import type { z } from 'zod'
import type { Chunk } from '../../kit/canonical/chunk.ts'
import type { Completion, ModelRequest, Operation } from '../../kit/canonical/forms.ts'
import type { GatewayError } from '../../kit/errors.ts'
import type { Awaitable } from '../../kit/work/continue-with.ts'
import type { Call } from './call.ts'

/** Writes one streamed answer: what each batch is as bytes, in an order that the wire allows. */
export interface StreamEncoder {
  /** Bytes for these chunks; empty when there is nothing to say yet. */
  chunks(batch: readonly Chunk[]): Buffer | string
  /** The text that ends a complete answer. */
  end(): string
  /** The text that ends an answer that failed on the way. Never looks like a normal end. */
  fail(error: GatewayError, requestId: string): string
  /** The content type that it writes; server-sent events without it. */
  readonly contentType?: string
}

/** The values of an address: the parameters of its path, and its query as it came, without the question mark. */
export interface Address {
  readonly params: Readonly<Record<string, string>>
  readonly query: string
}

/** The caller of the request, and the record that its call leaves. */
export type Asking = Pick<Call, 'principal' | 'trace'>

/** One kind of event of a stream, for the documentation. */
export interface EventShape {
  /** Its name, if it has one. */
  readonly event?: string
  /** The shape of the JSON that is its data, or the text that its data is. */
  readonly data: z.ZodType | string
}

/** A format that clients speak: a path, and the translation from and to the canonical forms. */
export interface Wire {
  readonly id: string
  /** With `{name}` for a segment or a part of one, `{+name}` for what may be several segments. */
  readonly path: string
  /** Other paths of the same. */
  readonly aliases?: readonly string[]
  readonly operation: Operation
  readonly summary: string
  /** A header beside `X-Request-Id` in which clients of the wire look for a request's id. */
  readonly idHeader?: string
  /** The body's shape, for the documentation and for `decode`. */
  readonly body: z.ZodType
  /** The shape of a whole answer, for the documentation. */
  readonly answer?: z.ZodType
  /** The events of a streamed one, for the documentation. */
  readonly events?: readonly EventShape[]
  /** The shape of its errors, for the documentation; the envelope's without it. */
  readonly errors?: z.ZodType
  /** Refuses an address by throwing, before the key and anything else of the request is looked at. */
  check?(address: Address): void
  /** The canonical request; throws a bad request that names the field. Wires that remember look up earlier turns. */
  decode(body: unknown, asking: Asking, address: Address): Awaitable<ModelRequest>
  /** The answer's body as the wire has it. */
  encode(body: Completion, request: ModelRequest, asking: Asking): unknown
  /** `wire` is the one that the chunks' bytes are in. */
  encoder(wire: string, request: ModelRequest, asking: Asking): StreamEncoder
  /** The error as this wire's clients expect it; `asking` once the request has been decoded. */
  error(error: GatewayError, requestId: string, asking?: Asking): unknown
}
