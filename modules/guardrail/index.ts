import { z } from 'zod'
import {
  type Call,
  type Detection,
  defineModule,
  type GuardrailHit,
  type GuardrailRuleSet,
  GuardrailRules,
  type GuardrailSpan,
  type TextLocation,
} from '#kernel'
import { guardrailRule } from '#kit'

type Direction = TextLocation['direction']

/** The rules of a direction of a call, and their matches so far. */
interface Side {
  readonly rules: GuardrailRuleSet | undefined
  readonly hits: GuardrailHit[]
  /** Rules that warn the client. */
  readonly warned: Set<string>
}

const warnings = 'X-Guardrail-Warnings'

export default defineModule({
  settings: z.strictObject({
    rules: z.array(guardrailRule).max(100).default([]).meta({
      title: 'Rules',
      description: 'Rules beside those that are kept under /api/guardrails, in the same form.',
    }),
  }),

  setup({ id, settings, mode, use, slot }) {
    const own = use(GuardrailRules).compile(id, settings.rules)
    // Stored rules hold once for a call, whatever bindings the module has.
    const from = { stored: !id.includes('/'), own }
    const sides = slot<Partial<Record<Direction, Side>>>(() => ({}))
    /** Asked once for each direction: a rule that changes during a call holds for the next one. */
    const sideOf = (call: Call, direction: Direction): Side => {
      const known = sides(call)
      known[direction] ??= {
        rules: use(GuardrailRules).rulesFor(call, direction, from),
        hits: [],
        warned: new Set(),
      }
      return known[direction]
    }

    /** What the module only tries, no rule of it has done. */
    const told = (hit: GuardrailHit): GuardrailHit => (mode === 'shadow' ? { ...hit, shadow: true } : hit)

    const detection = (direction: Direction): Detection => ({
      reach: use(GuardrailRules).reach,
      refusal: 'The content was refused by a guardrail rule of the operator.',
      applies: (call) => sideOf(call, direction).rules !== undefined,
      scan: (text, place, call, from) => sideOf(call, direction).rules?.find(text, place, from) ?? [],
      open: (text, call, from) => Math.max(from, text.length - (sideOf(call, direction).rules?.held ?? 0)),
      found(span, _place, call) {
        const side = sideOf(call, direction)
        for (const hit of (span as GuardrailSpan).hits) {
          side.hits.push(hit)
          if (direction === 'reply' || hit.action !== 'warn' || hit.shadow || side.warned.has(hit.ruleId))
            continue
          side.warned.add(hit.ruleId)
          call.trace.header(warnings, [...side.warned].join(', '))
        }
      },
    })

    return {
      idle: () => use(GuardrailRules).any?.(from) === false,
      detect: { request: detection('request'), reply: detection('reply') },
      settled(_outcome, call) {
        for (const [direction, { rules, hits }] of Object.entries(sides(call)))
          if (rules) use(GuardrailRules).record(call, direction as Direction, hits.map(told))
      },
    }
  },
})
