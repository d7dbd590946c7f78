import type { z } from 'zod'
import {
  Answer,
  type AnswerForm,
  type Answers,
  type JsonOrEvents,
  type SentForm,
} from '../kernel/contract/answers.ts'
import type { ServerEvent } from '../kernel/route.ts'

type Answered<F> =
  F extends z.ZodType<infer T>
    ? T
    : F extends JsonOrEvents<infer T>
      ? T | AsyncIterable<ServerEvent>
      : F extends SentForm<infer T>
        ? T
        : F extends 'events'
          ? AsyncIterable<ServerEvent>
          : string

/** The result of `handle` for a route with several statuses. */
export const answer = <const S extends number, T>(status: S, value: T): Answer<S, T> =>
  new Answer(status, value)

/** For `returns` of a route with several statuses: `answers({ 200: thing, 202: job })`. */
export const answers = <const M extends Readonly<Record<number, AnswerForm<unknown>>>>(
  statuses: M,
): Answers<{ [S in keyof M]: Answer<S & number, Answered<M[S]>> }[keyof M]> => ({ statuses })

/** For `returns` of a route whose body says with `stream` whether it answers with events. */
export const jsonOrEvents = <R>(json: z.ZodType<R>): JsonOrEvents<R> => ({ json })
