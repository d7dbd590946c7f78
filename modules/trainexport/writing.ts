import { createHash } from 'node:crypto'
import { linesOf } from '#kit'
import type { Example } from './example.ts'
import { type Form, lineOf } from './forms.ts'
import type { Part } from './row.ts'

/** Which part of a set a call belongs to: the same for a call each time, whatever else is in the set. */
export function partOf(traceId: string, validationShare: number): Part {
  const digest = createHash('sha256').update(traceId).digest()
  return digest.readUInt32BE() / 2 ** 32 < validationShare ? 'validation' : 'train'
}

/** An example as it waits for its forms: the first letter of its part, and its JSON. */
export const waiting = (part: Part, example: Example): Buffer =>
  Buffer.from(`${part[0]}${JSON.stringify(example)}\n`)

/** The lines of one part in one form, of what waits. One line at a time is in memory. */
export async function* linesIn(
  bytes: AsyncIterable<Uint8Array>,
  form: Form,
  part: Part,
): AsyncGenerator<Uint8Array> {
  const letter = part.charCodeAt(0)
  for await (const line of linesOf(bytes))
    if (line[0] === letter)
      yield Buffer.from(`${JSON.stringify(lineOf[form](JSON.parse(line.toString('utf8', 1))))}\n`)
}
