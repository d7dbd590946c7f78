import { z } from 'zod'
import { type Context, findingActions, type TextLocation } from '#kernel'
import { choose, chosenPolicies } from '../chosen.ts'
import type { Policies } from '../policies.ts'
import { isViolated, ruleMatches, type Sample } from '../sample.ts'
import type { PlacedText } from '../texts.ts'

const text = z.string().max(1_000_000)
const value = z.string().max(2000)

const question = z.strictObject({
  ...chosenPolicies,
  text: text.optional().meta({ description: 'What the user says, and what the answer says.' }),
  system: text.optional(),
  user: text.optional().meta({ description: 'What the user says.' }),
  response: text.optional().meta({ description: 'What the answer says.' }),
  tool_name: value.optional().meta({ description: 'A tool that the answer calls.' }),
  tool_args: text.optional().meta({ description: 'The arguments of that call.' }),
  model: value.default(''),
  user_id: value.optional(),
  project: value.default('default'),
  tags: z.record(z.string().max(200), value).default({}),
  ip: value.optional(),
  tokens: z.number().min(0).optional(),
  cost: z.number().min(0).optional().meta({ description: 'USD.' }),
})

const tried = z.object({
  policy_id: z.string(),
  name: z.string(),
  action: z.enum(findingActions),
  mode: z.enum(['enforce', 'shadow']),
  violated: z.boolean().meta({ description: 'Whether all rules match, and the call is in the scope.' }),
  rules: z.array(
    z.object({
      field: z.string(),
      matched: z.boolean(),
      match: z.string().optional().meta({ description: 'The first match in a text.' }),
    }),
  ),
})

/** To try policies on a call that is not made. */
export function addTestRoute({ route }: Pick<Context<unknown>, 'route'>, policies: Policies): void {
  route({
    method: 'post',
    path: '/api/trust/policies/test',
    access: 'admin',
    summary: 'Try trust policies on texts and values; no provider is called',
    reads: true,
    body: question,
    returns: z.object({
      policies: z.array(tried),
      violated: z.int(),
      verdict: z
        .enum([...findingActions, 'pass'])
        .meta({ description: 'The strongest action; policies in shadow do not count.' }),
    }),
    throws: [404],
    handle({ body: { policies: given, policy_ids, ...said } }) {
      const chosen = choose(
        { ...(given && { policies: given }), ...(policy_ids && { policy_ids }) },
        policies,
      )
      const sample = sampleFrom(said)
      const shown = chosen.map((policy) => ({
        policy_id: policy.id,
        name: policy.row.name,
        action: policy.row.action,
        mode: policy.row.mode,
        violated: isViolated(policy, sample),
        rules: ruleMatches(policy, sample),
      }))
      const violated = shown.filter((one) => one.violated)
      const acting = new Set(violated.filter(({ mode }) => mode === 'enforce').map(({ action }) => action))
      return {
        policies: shown,
        violated: violated.length,
        verdict: findingActions.find((action) => acting.has(action)) ?? ('pass' as const),
      }
    },
  })
}

function sampleFrom({
  text: both,
  system,
  user = both,
  response = both,
  tool_name,
  tool_args,
  ...said
}: Omit<z.infer<typeof question>, 'policies' | 'policy_ids'>): Sample {
  const { model, user_id: userId, project, tags, ip, tokens, cost: costUsd } = said
  const placed = (content: string | undefined, place: TextLocation): PlacedText[] =>
    content === undefined ? [] : [{ text: content, place }]
  const reply = { direction: 'reply', role: 'assistant' } as const
  return {
    facts: { project, model, userId, tags, ip, tokens },
    costUsd,
    request: [
      ...placed(system, { direction: 'request', role: 'system', kind: 'content' }),
      ...placed(user, { direction: 'request', role: 'user', kind: 'content' }),
    ],
    reply: [
      ...placed(response, { ...reply, kind: 'content' }),
      ...placed(tool_args, { ...reply, kind: 'arguments' }),
    ],
    names: tool_name === undefined ? [] : [tool_name],
  }
}
