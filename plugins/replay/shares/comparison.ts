import { z } from 'zod'
import { type ModelRequest, tooLarge } from '#kernel'
import { requestTexts } from '#kit'
import { delta, deltaOf, winners, winnersOf } from '../compare/winners.ts'
import { diffPart, wordDiff } from '../compare/word-diff.ts'
import type { RunRow, Side } from '../runs/row.ts'
import { longestText, sharedFields, title } from './row.ts'

const text = z
  .string()
  .max(longestText)
  .refine((text) => text.isWellFormed(), 'has half a character')
const name = z.string().min(1).max(256)
const count = z.int().min(0).max(1e12).nullable()
const amount = z.number().min(0).max(1e12).nullable()

/** One side of a comparison that anybody can read: figures and an answer, and nothing that leads to a call, a key or a person. */
const side = z.object({
  model: name,
  provider: name.nullable(),
  response: text,
  tokens_in: count,
  tokens_out: count,
  cost_usd: amount,
  latency_ms: amount,
  ttft_ms: amount,
})
export type SharedSide = z.infer<typeof side>

/** A comparison as it was when it was shared. */
export const comparison = z.object({
  prompt: text.nullable(),
  left: side,
  right: side,
  winners,
  delta,
  diff: z.array(diffPart).meta({ description: 'How the left answer becomes the right one, word by word.' }),
})
export type Comparison = z.infer<typeof comparison>

export const sharedComparison = comparison.extend(sharedFields)

const customSide = z.strictObject({
  model: name,
  provider: name.nullable().default(null),
  response: text,
  tokens_in: count.default(null),
  tokens_out: count.default(null),
  cost_usd: amount.default(null),
  latency_ms: amount.default(null),
  ttft_ms: amount.default(null),
})

/** A comparison in the words and figures of whoever shares it. */
export const customInput = z.strictObject({
  title: title.optional(),
  prompt: text.nullable().default(null),
  left: customSide,
  right: customSide,
})

/** A comparison of the caller's own. */
export const customComparison = ({ prompt, left, right }: z.infer<typeof customInput>): Promise<Comparison> =>
  compared(
    prompt,
    left,
    right,
    figuresOf('success', { trace_id: null, ...left }, { trace_id: null, ...right }),
  )

/** A run as a comparison. Throws 413 for one whose texts are too long to be shared. */
export async function comparisonOf(
  row: RunRow,
  {
    source,
    target,
    request,
  }: { readonly source: string; readonly target: string; readonly request: unknown },
): Promise<Comparison> {
  const prompt = request === null ? null : promptOf(request as ModelRequest)
  for (const [name, said] of Object.entries({ prompt, 'left.response': source, 'right.response': target }))
    if (said !== null && said.length > longestText)
      throw tooLarge(`The ${name} has ${said.length} characters, and a share takes ${longestText}.`)
  const sides = [shownSide(row.source, source), shownSide(row.target, target)] as const
  return compared(prompt, ...sides, row)
}

const shownSide = ({ trace_id: _, ...figures }: Side, response: string): SharedSide => ({
  ...figures,
  response: response.toWellFormed(),
})

const compared = async (
  prompt: string | null,
  left: SharedSide,
  right: SharedSide,
  figures: Parameters<typeof winnersOf>[0],
): Promise<Comparison> => ({
  prompt,
  left,
  right,
  winners: winnersOf(figures),
  delta: deltaOf(figures),
  diff: await wordDiff(left.response, right.response),
})

const figuresOf = (status: RunRow['status'], source: Side, target: Side) => ({
  status,
  source,
  target,
  quality: { similarity: null, json_valid: null, source_json_valid: null },
})

const promptOf = (request: ModelRequest): string =>
  requestTexts(request)
    .map(({ text }) => text)
    .join('\n\n')
    .toWellFormed()
