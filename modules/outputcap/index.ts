import { z } from 'zod'
import { type Call, defineModule } from '#kernel'
import { compileGlobs } from '#kit'
import { Cut } from './cut.ts'

const cap = z.int().min(1)
const names = z.array(z.string().min(1)).min(1).optional()

const rule = z.strictObject({
  models: names.meta({ title: 'Models', description: 'Globs over the model asked for; all without it.' }),
  plans: names.meta({ title: 'Plans', description: 'Plans it holds for; all without it.' }),
  projects: names.meta({ title: 'Projects', description: 'Projects it holds for; all without it.' }),
  max_tokens: cap.meta({
    title: 'Most tokens',
    description: 'Most tokens each choice of an answer may have.',
  }),
})

export default defineModule({
  settings: z.strictObject({
    default_max_tokens: cap.optional().meta({
      title: 'Default cap',
      description: 'Most tokens each choice of an answer may have where no rule says otherwise.',
    }),
    rules: z.array(rule).default([]).meta({
      title: 'Rules',
      description:
        'Caps by model, plan and project. The first that matches counts, so put the special before the general.',
    }),
  }),

  setup({ id, settings, slot }) {
    const { default_max_tokens: fallback, rules } = settings
    if (fallback === undefined && rules.length === 0) return {}

    const compiled = rules.map((rule) => ({ ...rule, serves: compileGlobs(rule.models ?? ['*']) }))
    const capOf = ({ operation, request, principal, context }: Call): number | undefined => {
      if (operation === 'embedding') return undefined
      const rule = compiled.find(
        ({ serves, plans, projects }) =>
          serves(request.model) &&
          (plans?.includes(principal.plan) ?? true) &&
          (projects?.includes(context.project) ?? true),
      )
      return rule?.max_tokens ?? fallback
    }
    /** Decided by the model that was asked for: aliases and fallbacks further in do not change it. */
    const decided = slot<{ tokens?: number }>(() => ({}))

    return {
      pure: true,
      request(call) {
        const tokens = capOf(call)
        if (tokens === undefined) return undefined
        decided(call).tokens = tokens
        return clamped(call, tokens, id)
      },
      stream(call) {
        const { tokens } = decided(call)
        return tokens === undefined ? undefined : new Cut(tokens, call.request.n ?? 1)
      },
    }
  },
})

const limits = ['max_completion_tokens', 'max_tokens'] as const

/** The call with the client's own limits lowered to the cap, or with the cap where it has none. */
function clamped(call: Call, tokens: number, id: string): Call | undefined {
  const own = limits.filter((field) => typeof call.request[field] === 'number')
  const over =
    own.length === 0 ? (['max_tokens'] as const) : own.filter((field) => call.request[field]! > tokens)
  if (over.length === 0) return undefined
  for (const field of over) {
    call.trace.note(id, 'clamped', { field, from: call.request[field] ?? null, to: tokens })
  }
  return call.withRequest(Object.fromEntries(over.map((field) => [field, tokens])))
}
