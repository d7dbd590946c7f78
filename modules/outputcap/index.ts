import { z } from 'zod'
import { type Call, defineModule } from '#kernel'
import { answerCount, compileWhen, limitTokens, tokenLimitFields } from '#kit'
import { Cut } from './cut.ts'

const cap = z.int().min(1)
const names = z.array(z.string().min(1)).min(1).optional()

const rule = z.strictObject({
  models: names.meta({
    title: 'Models',
    description: 'Globs for the requested model; all models if absent.',
  }),
  plans: names.meta({ title: 'Plans', description: 'Plans that the rule applies to; all if absent.' }),
  projects: names.meta({
    title: 'Projects',
    description: 'Projects that the rule applies to; all if absent.',
  }),
  max_tokens: cap.meta({
    title: 'Maximum tokens',
    description: 'Largest number of tokens in each choice of an answer.',
  }),
})

export default defineModule({
  settings: z.strictObject({
    default_max_tokens: cap.optional().meta({
      title: 'Default cap',
      description: 'Largest number of tokens in each choice of an answer if no rule matches.',
    }),
    rules: z.array(rule).default([]).meta({
      title: 'Rules',
      description:
        'Caps by model, plan and project. The first match is used, so put specific rules before general ones.',
    }),
  }),

  setup({ id, settings, slot }) {
    const { default_max_tokens: fallback, rules } = settings
    if (fallback === undefined && rules.length === 0) return {}

    const compiled = rules.map((rule) => ({ most: rule.max_tokens, unmet: compileWhen(rule) }))
    const capOf = (call: Call): number | undefined =>
      call.operation === 'embedding'
        ? undefined
        : (compiled.find(({ unmet }) => unmet?.(call) === undefined)?.most ?? fallback)
    /** Decided by the model that was asked for: aliases and fallbacks further in do not change it. */
    const decided = slot<{ tokens?: number }>(() => ({}))

    return {
      pure: true,
      request(call) {
        const tokens = capOf(call)
        if (tokens === undefined) return undefined
        decided(call).tokens = tokens
        const capped = limitTokens(call, tokens)
        for (const field of tokenLimitFields) {
          const from = call.request[field] ?? null
          if (capped.request[field] !== call.request[field])
            call.trace.note(id, 'clamped', { field, from, to: tokens })
        }
        return capped
      },
      stream(call) {
        const { tokens } = decided(call)
        return tokens === undefined ? undefined : new Cut(tokens, answerCount(call.request))
      },
    }
  },
})
