import { z } from 'zod'
import { badRequest, defineModule } from '#kernel'
import { lint, lintRules } from '#kit'

const header = 'X-Prompt-Lint'

const levels = z
  .partialRecord(z.enum(lintRules), z.enum(['error', 'warning', 'off']))
  .default({})
  .meta({
    title: 'Levels',
    description:
      'How bad the findings of a rule are, or `off` to leave it out. `empty` and `placeholder` are errors without it.',
  })
const maxSystemTokens = z.int().min(1).max(1_000_000).default(2000).meta({
  title: 'Longest system message',
  description: 'Estimated tokens of a system message above which it is long.',
})
const part = z.strictObject({ type: z.literal('text'), text: z.string() })

export default defineModule({
  settings: z.strictObject({
    strict: z.boolean().default(false).meta({
      title: 'Strict',
      description: 'Refuses calls whose prompt has an error.',
    }),
    levels,
    max_system_tokens: maxSystemTokens,
  }),

  once({ route }) {
    route({
      method: 'post',
      path: '/api/modules/promptlint/lint',
      access: 'any',
      summary: 'The weaknesses of a prompt or a template, without a call',
      reads: true,
      body: z.strictObject({
        messages: z
          .array(
            z.strictObject({
              role: z.enum(['system', 'developer', 'user', 'assistant']),
              content: z.union([z.string(), z.array(part).max(1000)]),
            }),
          )
          .min(1)
          .max(1000),
        levels,
        max_system_tokens: maxSystemTokens,
      }),
      returns: z.object({
        findings: z.array(
          z.object({
            rule: z.enum(lintRules),
            level: z.enum(['error', 'warning']),
            at: z.string().meta({ description: 'The message, such as `messages.0`.' }),
            count: z.int(),
            message: z.string(),
          }),
        ),
      }),
      handle: ({ body: { messages, ...limits } }) => ({
        findings: lint({ model: '', messages }, limits.levels, limits),
      }),
    })
  },

  setup({ id, settings }) {
    return {
      pure: true,
      request({ operation, request, trace }) {
        if (operation === 'embedding') return undefined
        const findings = lint(request, settings.levels, settings)
        trace.header(header, findings.length)
        if (findings.length === 0) return undefined
        const told = findings.map(({ rule, level, at, count }) => ({ rule, level, at, count }))
        trace.facts.prompt_lint = told
        trace.note(id, 'linted', { findings: findings.length })
        const [worst] = findings
        if (!settings.strict || worst!.level !== 'error') return undefined
        throw badRequest(worst!.message, {
          type: 'prompt_lint',
          param: worst!.at,
          details: { findings: told },
        })
      },
    }
  },
})
