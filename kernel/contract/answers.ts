import type { z } from 'zod'
import type { ServerEvent } from '../route.ts'

/** A page of HTML. It is inert without `scripts`: nothing of it runs, frames or loads from elsewhere. */
export interface HtmlPage {
  readonly html: string
  /** Whether it may run scripts of this origin and ask this origin. */
  readonly scripts?: boolean
  /** Texts of `<style>` and, with `scripts`, of `<script>` elements that may act; any other inline text does nothing. */
  readonly inline?: readonly string[]
  /** Asks search engines to leave it out. */
  readonly noindex?: boolean
}

/** A file. Browsers take it for what `type` says and for nothing else, and run nothing of it in this origin. */
export interface FileAnswer {
  /** Its bytes. A function reads from one byte to another, both included; ranges are answered of it and of bytes. */
  readonly body:
    | Uint8Array
    | AsyncIterable<Uint8Array>
    | ((from: number, to: number) => AsyncIterable<Uint8Array>)
  /** In bytes; needed where `body` is a function, and held to where it is known. */
  readonly size?: number
  /** A media type, or the ending of a file's name, such as `.js`. */
  readonly type: string
  /** The name under which browsers save it; without one they show it. */
  readonly name?: string
  /** A text that changes with the contents, without quotes: a client that has the contents already gets 304. */
  readonly etag?: string
  /** How long it may be kept, as `Cache-Control` says it. `private, no-cache` without it. */
  readonly cache?: string
}

/** JSON, or server-sent events where the body says `stream: true`. */
export interface JsonOrEvents<R> {
  readonly json: z.ZodType<R>
}

/** The answer of a route: JSON of a schema, events, plain text, a page or a file. */
export type AnswerForm<R> = z.ZodType<R> | JsonOrEvents<R> | 'events' | 'text' | 'page' | 'file'

/** The statuses with which a route answers, and what with. */
export interface Answers<R> {
  readonly statuses: Readonly<Record<number, AnswerForm<unknown>>>
  /** The type of `handle`'s result; for the compiler, never there. */
  readonly handled?: R
}

type Answered<F> =
  F extends z.ZodType<infer T>
    ? T
    : F extends JsonOrEvents<infer T>
      ? T | AsyncIterable<ServerEvent>
      : F extends 'events'
        ? AsyncIterable<ServerEvent>
        : F extends 'text'
          ? string
          : F extends 'page'
            ? string | HtmlPage
            : FileAnswer

/** An answer with one of several statuses. */
export class Answer<S extends number, T> {
  readonly status: S
  readonly value: T

  constructor(status: S, value: T) {
    this.status = status
    this.value = value
  }
}

/** The result of `handle` for a route with several statuses. */
export const answer = <const S extends number, T>(status: S, value: T): Answer<S, T> =>
  new Answer(status, value)

/** For `returns` of a route with several statuses: `answers({ 200: thing, 202: job })`. */
export const answers = <const M extends Readonly<Record<number, AnswerForm<unknown>>>>(
  statuses: M,
): Answers<{ [S in keyof M]: Answer<S & number, Answered<M[S]>> }[keyof M]> => ({ statuses })

/** For `returns` of a route whose body says with `stream` whether it answers with events. */
export const jsonOrEvents = <R>(json: z.ZodType<R>): JsonOrEvents<R> => ({ json })
