import { z } from 'zod'
import { type Call, defineModule, TokenCounting } from '#kernel'
import { languageDetector, timezoneSchema } from '#kit'
import { type Test, type Tools, testsAround, testsInside } from './conditions.ts'
import { type Rule, rulesSchema } from './rule.ts'

interface Compiled {
  readonly rule: Rule
  /** What equal requests may differ by. */
  readonly around: readonly Test[]
  readonly inside: readonly Test[]
}

/** The first rule whose conditions all hold chooses the model. A call that names its provider in X-Provider keeps its model. */
export default defineModule({
  settings: z.strictObject({
    rules: rulesSchema.default([]).meta({
      title: 'Rules',
      description:
        'In order. The first one whose conditions all hold chooses the model; later ones are not read.',
    }),
    timezone: timezoneSchema.default('UTC').meta({
      title: 'Time zone',
      description: 'IANA name of the time zone for hours, such as Europe/Berlin.',
    }),
  }),

  async setup({ settings: { rules, timezone }, find }) {
    if (rules.length === 0) return {}
    const speaks = rules.some(({ when }) => when.languages)
    const languageOf = speaks ? await languageDetector() : () => undefined
    const tools: Tools = { tokens: () => find(TokenCounting), languageOf, timezone }
    const compiled = rules.map((rule): Compiled => {
      return { rule, around: testsAround(rule.when, tools), inside: testsInside(rule.when, tools) }
    })
    const differing = compiled.filter(({ around }) => around.length > 0)
    return {
      pure: true,
      leadsTo: () => rules.map(({ name, model }) => ({ from: name, model })),
      request: (call) => (call.context.provider === undefined ? switched(call, compiled) : undefined),
      ...(differing.length > 0 && {
        varies: (call: Call) => differing.map(({ around }) => (reasonsOf(around, call) ? 1 : 0)).join(''),
      }),
    }
  },
})

function switched(call: Call, rules: readonly Compiled[]): Call | undefined {
  for (const { rule, around, inside } of rules) {
    const reasons = reasonsOf([...around, ...inside], call)
    if (!reasons) continue
    call.trace.decide({
      kind: 'rule',
      chosen: rule.model,
      reason: [`rule ${rule.name}`, ...reasons].join('; '),
      considered: rules.map(({ rule: { name } }) => name),
    })
    return rule.model === call.request.model ? undefined : call.withRequest({ model: rule.model })
  }
  return undefined
}

/** Why all of these hold; undefined when one does not. */
function reasonsOf(tests: readonly Test[], call: Call): string[] | undefined {
  const reasons: string[] = []
  for (const test of tests) {
    const reason = test(call)
    if (reason === undefined) return undefined
    reasons.push(reason)
  }
  return reasons
}
