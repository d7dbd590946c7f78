import { z } from 'zod'
import { callParams, webAddress } from '#kit'
import { condition } from './condition.ts'
import { ending, handling } from './handling.ts'
import { text, value } from './value.ts'

/** The names that tags have beside those of steps. */
export const reserved = ['input', 'steps', 'item', 'index']

export const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
  .meta({ description: 'Lower-case letters, digits, - and _.' })

const stepId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/)
  .refine((id) => !reserved.includes(id), `may not be ${reserved.join(', ')}`)

const model = {
  model: z.string().min(1).max(256),
  provider: z.string().min(1).max(100).optional(),
  params: callParams.optional().meta({ description: 'Parameters of the call, such as temperature.' }),
}

const llm = {
  type: z.literal('llm'),
  ...model,
  prompt: text.min(1),
  system: text.optional(),
}

const judge = {
  type: z.literal('judge'),
  ...model,
  config: z.strictObject({
    value: text.min(1).meta({ description: 'What is judged.' }),
    criteria: text.min(1).meta({ description: 'What makes it good.' }),
    max_score: z.int().min(1).max(100).default(10).meta({ description: 'The best score; the worst is 0.' }),
  }),
}

const transform = {
  type: z.literal('transform'),
  config: z.union([
    z.strictObject({ value }),
    z.strictObject({ parse: text.meta({ description: 'A text that is read as JSON.' }) }),
  ]),
}

const http = {
  type: z.literal('http'),
  config: z.strictObject({
    url: z.union([
      webAddress,
      text.refine((url) => /^https?:\/\//.test(url), 'begins with http:// or https://'),
    ]),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
    headers: z.record(z.string().regex(/^[\w-]{1,100}$/), text).default({}),
    body: value.optional(),
  }),
}

const workflow = {
  type: z.literal('workflow'),
  config: z.strictObject({ workflow: slug, input: value.default({}) }),
}

const tool = {
  type: z.literal('tool'),
  config: z.strictObject({
    tool: slug.meta({ description: 'The name of a tool of the owner, or of a shared one.' }),
    arguments: value.default({}),
  }),
}

/** Steps that can be a part of another one. */
const part = z.discriminatedUnion('type', [
  z.strictObject({ ...llm, ...handling }),
  z.strictObject({ ...judge, ...handling }),
  z.strictObject({ ...transform, ...handling }),
  z.strictObject({ ...http, ...handling }),
  z.strictObject({ ...tool, ...handling }),
  z.strictObject({ ...workflow, ...ending }),
])

const map = {
  type: z.literal('map'),
  config: z.strictObject({
    over: text.meta({ description: 'A tag that shows a list; its items are `item`, their places `index`.' }),
    step: part,
  }),
}

const parallel = {
  type: z.literal('parallel'),
  config: z.strictObject({
    steps: z.record(stepId, part).refine((steps) => {
      const { length } = Object.keys(steps)
      return length >= 1 && length <= 20
    }, 'has 1 to 20 steps'),
  }),
}

const human = {
  type: z.literal('human'),
  config: z.strictObject({
    message: text.optional().meta({ description: 'What the person is asked.' }),
    timeout_s: z.int().min(1).max(31_536_000).optional().meta({
      description: 'How long the run waits; without it until somebody decides.',
    }),
  }),
}

const branch = { type: z.literal('condition'), config: z.strictObject({ if: condition }) }

const place = {
  id: stepId,
  name: z.string().max(200).optional(),
  depends_on: z.array(stepId).max(100).default([]).meta({
    description: 'Steps that end first, beside those that its tags name.',
  }),
  when: condition.optional().meta({ description: 'The step is skipped unless this holds.' }),
}

export const step = z.discriminatedUnion('type', [
  z.strictObject({ ...place, ...llm, ...handling }),
  z.strictObject({ ...place, ...judge, ...handling }),
  z.strictObject({ ...place, ...transform, ...handling }),
  z.strictObject({ ...place, ...http, ...handling }),
  z.strictObject({ ...place, ...tool, ...handling }),
  z.strictObject({ ...place, ...workflow, ...ending }),
  z.strictObject({ ...place, ...map, ...ending }),
  z.strictObject({ ...place, ...parallel, ...ending }),
  z.strictObject({ ...place, ...human, ...ending }),
  z.strictObject({ ...place, ...branch, ...ending }),
])
export type Step = z.infer<typeof step>
export type Part = z.infer<typeof part>
