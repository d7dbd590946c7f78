import type { ServerResponse } from 'node:http'
import type { z } from 'zod'
import type { Awaitable } from '../../kit/work/continue-with.ts'

/** A response that is still to be written, with what its request says of it. Koa's context is one. */
export interface OpenResponse {
  /** Says what is set already. */
  readonly res: Pick<ServerResponse, 'hasHeader'>
  readonly method: string
  /** Whether the client has what `etag` names already. */
  readonly fresh: boolean
  status: number
  /** A media type, or the ending of a file's name. */
  type: string
  /** In bytes. */
  length: number
  etag: string
  /** A text, bytes or a stream. */
  body: unknown
  /** A header of the request; empty when it has none. */
  get(name: string): string
  set(headers: Record<string, string>): void
  set(name: string, value: string): void
  /** Has browsers save it under a name. */
  attachment(name: string): void
}

/** A form of answers that writes itself, such as `pageAnswer` and `fileAnswer` of the kit. */
export interface SentForm<R> {
  /** Of what it writes, for the documentation; any type where that is not known before. */
  readonly mediaType: string
  /** Writes the result of `handle`. What it throws is an error of the request's. */
  send(response: OpenResponse, value: R): Awaitable<void>
}

/** JSON, or server-sent events where the body says `stream: true`. */
export interface JsonOrEvents<R> {
  readonly json: z.ZodType<R>
}

/** The answer of a route: JSON of a schema, events, plain text, or a form that writes itself. */
export type AnswerForm<R> = z.ZodType<R> | JsonOrEvents<R> | SentForm<R> | 'events' | 'text'

/** The statuses with which a route answers, and what with. */
export interface Answers<R> {
  readonly statuses: Readonly<Record<number, AnswerForm<unknown>>>
  /** The type of `handle`'s result; for the compiler, never there. */
  readonly handled?: R
}

/** An answer with one of several statuses. */
export class Answer<S extends number, T> {
  readonly status: S
  readonly value: T

  constructor(status: S, value: T) {
    this.status = status
    this.value = value
  }
}
