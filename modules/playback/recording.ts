import { z } from 'zod'
import type { Call, Completion, ModelRequest } from '#kernel'
import { parseForeign, repairedJson } from '#kit'
import { type Step, stepsOf, textOf } from './pace.ts'

const call = z.looseObject({
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
})

const choice = z.looseObject({
  index: z.int(),
  finish_reason: z.string().nullable(),
  text: z.string().optional(),
  message: z.looseObject({ role: z.string(), tool_calls: z.array(call).nullish() }).optional(),
})

const text = z.strictObject({
  version: z.literal(1),
  operation: z.enum(['chat', 'completion', 'embedding']),
  circle: z.string(),
  request: z.looseObject({ model: z.string() }),
  answer: z.looseObject({
    choices: z.array(choice).optional(),
    data: z.array(z.unknown()).optional(),
  }),
  pace: z.string().refine((pace) => stepsOf(pace) !== undefined, 'is no list of ms:characters'),
})

/** What an answer is recorded for, without secrets. */
export interface Question {
  readonly operation: Call['operation']
  /** Marks those who share the answer, without telling who they are. */
  readonly circle: string
  /** The fields that the answer depends on. */
  readonly request: ModelRequest
}

/** An answer with its question, neither with a secret. */
export interface Recording extends Question {
  readonly answer: Completion
  readonly steps: readonly Step[]
}

/** A recording as a file, for people to read and to compare. */
export function fileOf({ steps, ...recording }: Recording): string {
  return `${JSON.stringify({ version: 1, ...recording, pace: textOf(steps) }, null, 2)}\n`
}

/** The recording in a file, which anybody may have edited. Throws for what is none. */
export function recordingIn(file: string): Recording {
  const { version: _, pace, ...recording } = text.parse(parseForeign(file))
  return { ...(recording as unknown as Omit<Recording, 'steps'>), steps: stepsOf(pace)! }
}

/** Whether two recordings have the same words: then the file stays, since ids, times and paces differ each time. */
export const saysTheSame = (one: Recording, other: Recording): boolean =>
  repairedJson(wordsOf(one)) === repairedJson(wordsOf(other))

function wordsOf({ request, answer }: Recording): object {
  const { id: _, created: __, system_fingerprint: ___, ...said } = answer
  return { request, said }
}
