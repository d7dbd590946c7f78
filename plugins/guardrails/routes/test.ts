import { z } from 'zod'
import { type Context, findingActions, type GuardrailSpan, type TextLocation } from '#kernel'
import { findInTurns, type GuardrailTarget, guardrailRule, guardrailTargets, matchesInTurns } from '#kit'
import { compileInput, guardrailSet } from '../compile.ts'
import type { Rules } from '../rules.ts'
import { ruleMatch } from '../shapes.ts'

const verdicts = ['block', 'redact', 'warn', 'log', 'pass'] as const

const places: Readonly<Record<GuardrailTarget, Pick<TextLocation, 'role' | 'kind'>>> = {
  system: { role: 'system', kind: 'content' },
  user: { role: 'user', kind: 'content' },
  assistant: { role: 'assistant', kind: 'content' },
  tool_args: { role: 'assistant', kind: 'arguments' },
  tool_result: { role: 'tool', kind: 'content' },
}

const question = z.strictObject({
  text: z.string().max(1_000_000),
  project: z.string().default('default'),
  direction: z.enum(['request', 'response']).default('request'),
  target: z.enum(guardrailTargets).optional().meta({
    description:
      'What the text is; by default what the user says in a request, and the assistant in an answer.',
  }),
  rules: z.array(guardrailRule).min(1).max(100).optional().meta({
    description: 'Rules to try instead of the stored ones. They need not be stored.',
  }),
})

/** Matches that an answer lists: a text may have one at each character. */
const mostListed = 1000

/** To try rules on a text without a call. */
export function addTestRoute({ route }: Pick<Context<unknown>, 'route'>, rules: Rules): void {
  route({
    method: 'post',
    path: '/api/guardrails/test',
    access: 'admin',
    summary: 'Try guardrail rules on a text; no provider is called',
    reads: true,
    body: question,
    returns: z.object({
      matches: z.array(ruleMatch).meta({ description: `In their order, ${mostListed} at the most.` }),
      count: z.int().meta({ description: 'How many there are.' }),
      verdict: z.enum(verdicts).meta({ description: 'The strongest action; rules in shadow do not count.' }),
      output: z.string().meta({ description: 'The text after redaction.' }),
      ms: z.number(),
    }),
    async handle({ body }) {
      const { text, direction, target = direction === 'request' ? 'user' : 'assistant' } = body
      const side = direction === 'request' ? 'request' : 'reply'
      const tried = body.rules ? compileInput(body.rules) : rules.inForce(body.project, side)
      const place: TextLocation = { direction: side, ...places[target] }
      const started = performance.now()
      const set = guardrailSet(tried)
      const spans = await findInTurns(set, text, place)
      const matches = await matchesInTurns(set, text, place, mostListed)
      const ms = performance.now() - started
      const acting = new Set(
        Array.from(matches.rules).flatMap((rule) => (rule.isShadow ? [] : [rule.action])),
      )
      return {
        matches: matches.first.map(({ rule: { id, row, action }, start, end }) => ({
          rule_id: id,
          rule_name: row.name,
          rule_type: row.type,
          action,
          match: text.slice(start, end),
          start,
          end,
        })),
        count: matches.count,
        verdict: findingActions.find((action) => acting.has(action)) ?? ('pass' as const),
        output: redacted(text, spans),
        ms: Math.round(ms * 1000) / 1000,
      }
    },
  })
}

function redacted(text: string, spans: readonly GuardrailSpan[]): string {
  let output = ''
  let at = 0
  for (const { start, end, action, replacement = '' } of spans) {
    if (action !== 'replace') continue
    output += text.slice(at, start) + replacement
    at = end
  }
  return output + text.slice(at)
}
