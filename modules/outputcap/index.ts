import { z } from 'zod'
import { type Call, type Chunk, defineModule, type Filter } from '#kernel'
import { compileGlobs } from '#kit'

const cap = z.int().min(1)

const rule = z.strictObject({
  models: z
    .array(z.string())
    .default(['*'])
    .meta({ title: 'Models', description: 'Globs over the model asked for.' }),
  plans: z
    .array(z.string())
    .optional()
    .meta({ title: 'Plans', description: 'Plans it holds for; all without it.' }),
  projects: z.array(z.string()).optional().meta({ title: 'Projects', description: 'Projects it holds for.' }),
  max_tokens: cap.meta({ title: 'Most tokens', description: 'Most tokens an answer may have.' }),
})

export default defineModule({
  settings: z.strictObject({
    default_max_tokens: cap.optional().meta({
      title: 'Default cap',
      description: 'Most tokens an answer may have where no rule says otherwise.',
    }),
    rules: z
      .array(rule)
      .default([])
      .meta({ title: 'Rules', description: 'Caps by model, plan and project; first match wins.' }),
  }),

  setup({ settings, slot }) {
    const { default_max_tokens: fallback, rules } = settings
    if (fallback === undefined && rules.length === 0) return {}

    const compiled = rules.map(({ models, ...rest }) => ({ ...rest, serves: compileGlobs(models) }))
    const capOf = ({ request, principal, context }: Call): number | undefined => {
      const match = compiled.find(
        ({ serves, plans, projects }) =>
          serves(request.model) &&
          (!plans || plans.includes(principal.plan)) &&
          (!projects || projects.includes(context.project)),
      )
      return match?.max_tokens ?? fallback
    }
    /** The cap is decided by the model asked for, before aliases and fallbacks change it. */
    const decided = slot<{ cap?: number | undefined }>(() => ({}))

    return {
      request(call) {
        const most = capOf(call)
        decided(call).cap = most
        return most === undefined || call.operation === 'embedding' ? undefined : clamped(call, most)
      },
      stream(call) {
        const most = decided(call).cap
        return most === undefined ? undefined : new Cut(most)
      },
    }
  },
})

/** The call with its own limit lowered, or one set. Which of the two fields it uses stays as the client wrote it. */
function clamped(call: Call, most: number): Call | undefined {
  const { max_completion_tokens, max_tokens } = call.request
  const field =
    max_completion_tokens !== undefined && max_completion_tokens !== null
      ? 'max_completion_tokens'
      : 'max_tokens'
  const asked = max_completion_tokens ?? max_tokens
  if (typeof asked === 'number' && asked <= most) return undefined
  call.trail.note('outputcap', 'clamped', { field, from: asked ?? null, to: most })
  return call.withRequest({ [field]: most })
}

/** Ends a stream whose provider ignored the limit. Counts by estimate, generously: the provider's own count is exact. */
class Cut implements Filter {
  readonly #most: number
  readonly #used = new Map<number, number>()

  constructor(most: number) {
    this.#most = most
  }

  push(...[chunk, out]: Parameters<Filter['push']>): void {
    out.emit(chunk)
    if (this.#over(chunk)) out.finish('length', this.#used.keys())
  }

  #over({ data }: Chunk): boolean {
    let over = false
    for (const { index, delta, text, finish_reason } of data.choices) {
      const written = (text ?? '') + (delta?.content ?? '') + (delta?.reasoning_content ?? '')
      const used = (this.#used.get(index) ?? 0) + written.length
      this.#used.set(index, used)
      if (!finish_reason && used / 4 > this.#most * slack) over = true
    }
    return over
  }
}

/** An estimate may be off by this factor before a stream is cut for it. */
const slack = 1.5
