import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import type { Awaitable } from '../kit/work/continue-with.ts'
import type { Principal } from './call/call.ts'
import type { EventShape, Wire } from './call/wire.ts'
import type { AnswerForm, Answers } from './contract/answers.ts'
import type { BodyForm } from './contract/bodies.ts'

/** Access to a route: without a key, with any key, with a user's key, or with an admin key. */
export type Access = 'public' | 'any' | 'user' | 'admin'

export interface RouteInput<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Absent on public routes called without a key. */
  readonly principal: Principal | undefined
  /** The id of the browser's session that the request came with, in place of a key. */
  readonly session: string | undefined
  /** Whether the client came over TLS, as far as trusted proxies tell. */
  readonly isSecure: boolean
  readonly ip: string
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  /** Sets a header of the answer. */
  header(name: string, value: string): void
}

/** A server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly data: unknown
  readonly id?: string
}

/** A route is data: validation, access and documentation are projections of it. */
export interface Route<P, Q, B, R> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With `{name}` for parameters, as in the documentation; `{+name}` for one that may be several segments. */
  readonly path: string
  readonly access: Access
  /** Refuses requests that pages of other origins send, with whatever key. Sessions are refused there anyway. */
  readonly sameOrigin?: boolean
  readonly summary: string
  /** The group that it is listed under; the plugin's id without it. */
  readonly tag?: string
  readonly params?: z.ZodType<P>
  readonly query?: z.ZodType<Q>
  /** A schema for JSON; `rawBody` or `streamedBody` of the kit for bytes. */
  readonly body?: z.ZodType<B> | BodyForm<B>
  /** 200 without it. */
  readonly status?: number
  /** The wire to which it belongs: its errors look like those of that wire, and its ids stand where its clients look. */
  readonly wire?: Pick<Wire, 'error' | 'errors' | 'idHeader' | 'check'>
  /** The form of the answer: of JSON, fields that the schema does not name are dropped. `answers` names several statuses. */
  readonly returns: AnswerForm<R> | Answers<R>
  /** The meaning of the events, for the documentation. */
  readonly events?: readonly EventShape[]
  /** Statuses of its own refusals, for the documentation: those that follow from its access, path and body are known. */
  readonly throws?: readonly number[]
  /** It changes nothing although it is no GET, so that no audit event tells of it. */
  readonly reads?: boolean
  handle(input: RouteInput<P, Q, B>): Awaitable<R | string | AsyncIterable<ServerEvent>>
}

/** A route in a generation: whose it is, its types erased. */
export interface LiveRoute extends Route<unknown, unknown, unknown, unknown> {
  readonly plugin: string
}
