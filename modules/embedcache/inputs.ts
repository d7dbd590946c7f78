import { hash } from 'node:crypto'
import type { Call, ModelRequest } from '#kernel'
import { answerKey } from '#kit'

/** One of the inputs of a call: a text, or its tokens. */
export type Input = string | readonly number[]

/** An input that a call names, once however often it does so. */
export interface Wanted {
  /** The key of its embedding. */
  readonly key: string
  readonly input: Input
}

/** The inputs of a call, each with the key of its embedding, in their order. */
export function wantedBy(call: Call, circle: string): readonly Wanted[] {
  const shared = answerKey(call.withRequest({ input: undefined }), circle)
  return inputsOf(call.request).map((input) => ({
    key: hash('sha256', `${shared}${JSON.stringify(input)}`),
    input,
  }))
}

function inputsOf({ input }: ModelRequest): readonly Input[] {
  if (input === undefined) return []
  return isOne(input) ? [input] : input
}

/** Whether it is one input: a text, or a list of tokens. */
const isOne = (input: NonNullable<ModelRequest['input']>): input is Input =>
  typeof input === 'string' || typeof input[0] === 'number'
