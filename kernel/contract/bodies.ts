import type { IncomingMessage } from 'node:http'
import type { Awaitable } from '../../kit/work/continue-with.ts'
import type { BodyRoom } from '../http/body.ts'

/** A request whose body is still to be read. Koa's context is one. */
export interface OpenRequest {
  readonly req: IncomingMessage
  /** Whether its body is of one of these media types: which one, false when of none, and null when there is no body. */
  is(types: string[]): string | false | null
}

/** The body of a route that is no JSON, and how it is read: `rawBody` and `streamedBody` of the kit make them. */
export interface BodyForm<B> {
  /** Media types that are taken, for the documentation; any without it. */
  readonly types?: readonly string[]
  /**
   * Gives `handle` its body. `usual` is the limit of bodies in bytes, where a form has none of its own; in `room` is counted what is
   * kept of a large one before it is whole.
   */
  read(request: OpenRequest, usual: number, room?: BodyRoom): Awaitable<B>
}
