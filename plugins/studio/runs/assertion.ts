import { z } from 'zod'
import { badRequest } from '#kernel'
import { patternSize, type Schemas, takingTurns } from '#kit'
import { checkSchema, checkSteps, stepsOfSchema } from './patterns.ts'

const text = z.string().min(1).max(20_000)
const threshold = z.number().min(0).max(1)
const common = {
  name: z.string().min(1).max(100).optional().meta({ description: 'Its type without it.' }),
  weight: z.number().positive().max(1000).default(1),
}
const expected = text.optional().meta({ description: 'What the input says is expected, without it.' })

const jsonSchema = z.record(z.string(), z.unknown())

/** What an answer is held to. Each gives a score from 0 to 1, and is passed with 1 or, where it has one, its threshold. */
export const assertion = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('equals'),
    text: expected,
    ignore_case: z.boolean().default(false),
    ...common,
  }),
  z.strictObject({
    type: z.literal('contains'),
    text: expected,
    ignore_case: z.boolean().default(false),
    ...common,
  }),
  z.strictObject({
    type: z.literal('regex'),
    pattern: z.string().min(1).max(1000).meta({ description: 'In RE2 syntax, which takes linear time.' }),
    ...common,
  }),
  z.strictObject({
    type: z.literal('length'),
    min_chars: z.int().min(0).max(1_000_000).default(0),
    max_chars: z.int().min(1).max(1_000_000).default(1_000_000),
    ...common,
  }),
  z.strictObject({
    type: z.literal('concise'),
    max_words: z.int().min(1).max(100_000).meta({
      description: 'An answer of twice as many words scores a half.',
    }),
    ...common,
  }),
  z.strictObject({ type: z.literal('json'), ...common }),
  z.strictObject({ type: z.literal('json_schema'), schema: jsonSchema, ...common }),
  z.strictObject({
    type: z.literal('similarity'),
    text: expected,
    threshold: threshold.default(0.8),
    ...common,
  }),
  z.strictObject({
    type: z.literal('judge'),
    model: z.string().min(1).max(256),
    provider: z.string().min(1).max(100).optional(),
    criteria: text,
    threshold: threshold.default(0.7),
    ...common,
  }),
])
export type Assertion = z.infer<typeof assertion>

export const assertions = z.array(assertion).max(20)

export const nameOf = ({ name, type }: Assertion): string => name ?? type

const needsText = (one: Assertion): boolean =>
  (one.type === 'equals' || one.type === 'contains' || one.type === 'similarity') && one.text === undefined

/** The steps that its patterns take for each character; undefined where one is no pattern. */
function stepsOf(one: Assertion): number | undefined {
  if (one.type === 'regex') return patternSize(one.pattern)
  return one.type === 'json_schema' ? stepsOfSchema(one.schema) : 0
}

/**
 * Refuses assertions that no answer could be held to: wrong schemas, patterns that take long, two of one name, and those that ask for what is expected where
 * an input does not say so. `at` is the field that has them. Others have their turn meanwhile: patterns take time to be read.
 */
export async function checkAssertions(
  schemas: Schemas,
  all: readonly Assertion[],
  expectations: readonly (string | undefined)[],
  at: string,
): Promise<void> {
  const names = new Set<string>()
  let steps = 0
  const turn = takingTurns()
  for (const [n, one] of all.entries()) {
    await turn()
    const param = `${at}.${n}`
    const refuse = (what: string) => badRequest(`body ${param}: ${what}.`, { param })
    if (names.has(nameOf(one))) throw refuse('another one has this name; give it a `name`')
    names.add(nameOf(one))
    if (one.type === 'json_schema') await checkSchema(schemas, one.schema, `${param}.schema`)
    const own = stepsOf(one)
    if (own === undefined) throw notPattern(`${param}.pattern`)
    steps += own
    checkSteps(steps, param)
    if (one.type === 'length' && one.min_chars > one.max_chars) throw refuse('min_chars is above max_chars')
    const without = needsText(one) ? expectations.indexOf(undefined) : -1
    if (without !== -1) throw refuse(`it has no text, and input ${without} has no \`expected\``)
  }
}

export const notPattern = (param: string) =>
  badRequest(`body ${param}: must be a regular expression in RE2 syntax.`, { param })
