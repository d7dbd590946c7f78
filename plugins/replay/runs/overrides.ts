import { z } from 'zod'
import {
  badRequest,
  type Context,
  type Message,
  type ModelRequest,
  type Principal,
  Templates,
  type TraceSummary,
} from '#kernel'
import { instructionsAtStart, tokenLimitFields } from '#kit'

const share = z.number().min(0).max(1)
const penalty = z.number().min(-2).max(2)
const tokens = z.int().min(1)
const stop = z.string().min(1).max(1000)

/** Parameters that a run may set anew. */
const params = z.strictObject({
  temperature: z.number().min(0).max(2).exactOptional(),
  top_p: share.exactOptional(),
  top_k: z.int().min(1).exactOptional(),
  max_tokens: tokens.exactOptional(),
  max_completion_tokens: tokens.exactOptional(),
  presence_penalty: penalty.exactOptional(),
  frequency_penalty: penalty.exactOptional(),
  seed: z.int().exactOptional(),
  stop: z.union([stop, z.array(stop).max(16)]).exactOptional(),
  reasoning_effort: z.string().min(1).max(20).exactOptional(),
  verbosity: z.string().min(1).max(20).exactOptional(),
})

/** What a run asks otherwise than the call did. */
export const overrides = z.strictObject({
  params: params.optional(),
  system: z
    .string()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: 'Instructions in place of those at the beginning.' }),
  template_version: z.int().min(1).optional().meta({
    description: 'Another version of the template that the call used; its messages take the place of theirs.',
  }),
  template_variables: z.record(z.string().max(64), z.unknown()).optional().meta({
    description: 'The values for that version; traces do not have them.',
  }),
})
export type Overrides = z.infer<typeof overrides>

/** The request of a past call with the overrides. Throws a bad request for what does not fit it. */
export async function overridden(
  request: ModelRequest,
  { template_version: version, template_variables: values, system, params }: Overrides,
  filled: (version: number, values: Readonly<Record<string, unknown>>) => Promise<Filled>,
): Promise<ModelRequest> {
  if (values !== undefined && version === undefined)
    throw badRequest('body overrides.template_variables: name the template_version that they are for.', {
      param: 'overrides.template_variables',
    })
  let { messages } = request
  if (version !== undefined) {
    const { before, after } = await filled(version, values ?? {})
    messages = [...after, ...messagesIn(messages, 'template_version').slice(before)]
  }
  if (system !== undefined) {
    const all = messagesIn(messages, 'system')
    messages = [{ role: 'system', content: system }, ...all.slice(instructionsAtStart(all))]
  }
  return { ...withParams(request, params), ...(messages && { messages }) }
}

/** What a version of a template says in place of another one. */
interface Filled {
  /** How many messages the earlier version made. */
  readonly before: number
  readonly after: readonly Message[]
}

/** Fills versions of the template that a past call used, for a caller who may use that template. */
export function templateOf(
  { find }: Pick<Context<unknown>, 'find'>,
  { facts }: TraceSummary,
  caller: Principal,
): (version: number, values: Readonly<Record<string, unknown>>) => Promise<Filled> {
  return async (version, values) => {
    const used = usedTemplate.safeParse(facts.template).data
    const templates = find(Templates)
    if (!used || !templates)
      throw badRequest('body overrides.template_version: the call used no template.', {
        param: 'overrides.template_version',
      })
    const [before, after] = await Promise.all(
      [used.version, version].map((version) => templates.find(caller, { slug: used.slug, version })),
    )
    return { before: before!.fill(values).length, after: after!.fill(values) }
  }
}

const usedTemplate = z.object({ slug: z.string(), version: z.int() })

function messagesIn(messages: readonly Message[] | undefined, override: string): readonly Message[] {
  if (messages) return messages
  throw badRequest(`body overrides.${override}: the call has a prompt and no messages.`, {
    param: `overrides.${override}`,
  })
}

/** A limit of tokens takes the place of one under the other name. */
function withParams(request: ModelRequest, params: Overrides['params'] = {}): ModelRequest {
  const limits: readonly string[] = tokenLimitFields
  if (!limits.some((name) => name in params)) return { ...request, ...params }
  const rest = Object.fromEntries(Object.entries(request).filter(([name]) => !limits.includes(name)))
  return { ...(rest as unknown as ModelRequest), ...params }
}
