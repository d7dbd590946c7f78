import { z } from 'zod'
import {
  badRequest,
  type Call,
  type Candidate,
  defineModule,
  type GatewayError,
  TokenCounting,
} from '#kernel'
import { byName, roughTokens } from '#kit'
import { type Counted, countFor, fits } from './used.ts'
import { KnownWindows } from './windows.ts'

const model = z.string().min(1).max(256)

const settings = z.strictObject({
  fallbacks: z.record(model, z.array(model).min(1).max(20)).default({}).meta({
    title: 'Larger models',
    description:
      'For a model or a glob, the models that take prompts which it cannot take: the first that the prompt fits is asked.',
  }),
})

/** Counts exactly only what is near its limit, in a thread of its own. Inputs of embeddings are left to their providers. */
export default defineModule({
  settings,

  setup({ settings: { fallbacks }, targets, find }) {
    const largerThan = byName<readonly string[]>(fallbacks)
    const known = new KnownWindows()
    const count = (call: Call, target: Candidate, rough: number): Promise<Counted> =>
      countFor(find(TokenCounting), call, target, rough)

    /** The call for the first of these models that its prompt fits. */
    async function moved(call: Call, models: readonly string[], rough: number): Promise<Call | undefined> {
      for (const model of models) {
        const there = call.withRequest({ model })
        const [target] = await targets(there)
        if (!target) continue
        const counted = await count(there, target, rough)
        if (!fits(counted, target.window)) continue
        show(call, counted, target.window)
        return there
      }
      return undefined
    }

    async function fitted(call: Call, rough: number): Promise<Call | undefined> {
      const [target, ...others] = await targets(call)
      if (!target) return undefined
      const { window } = target
      known.remember(call, window ?? Number.POSITIVE_INFINITY)
      const counted = await count(call, target, rough)
      if (fits(counted, window)) {
        show(call, counted, window)
        return undefined
      }
      const elsewhere = others.map(({ provider, model }) => `${provider}/${model}`)
      const larger = [...elsewhere, ...(largerThan(call.request.model) ?? [])]
      const there = await moved(call, larger, rough)
      if (!there) throw tooLong(call, counted.tokens, target)
      call.trace.decide({
        kind: 'context_window',
        chosen: there.request.model,
        reason: `the prompt has ${counted.tokens} tokens, and ${target.model} takes ${window}`,
        considered: larger,
      })
      return there
    }

    return {
      pure: true,
      request(call) {
        if (call.operation === 'embedding') return undefined
        const rough = roughTokens(call.request)
        const window = known.of(call)
        if (window === undefined || rough * 2 > window) return fitted(call, rough)
        show(call, { tokens: rough, isEstimate: true }, window)
        return undefined
      },
    }
  },
})

function show({ trace }: Call, { tokens }: Counted, window: number | undefined): void {
  if (window !== undefined && Number.isFinite(window)) trace.header('x-context-used', `${tokens}/${window}`)
}

/** Clients shorten their conversation by themselves when they read that a prompt is too long. */
function tooLong({ request }: Call, counted: number, { model, window = 0 }: Candidate): GatewayError {
  return badRequest(
    `The prompt is too long: ${counted} tokens > ${window} maximum, the context length of ${model}. Shorten it by ` +
      `${counted - window} tokens, or ask for a model with a larger context window.`,
    {
      type: 'context_length_exceeded',
      param: request.messages ? 'messages' : 'prompt',
      details: { counted_tokens: counted, allowed_tokens: window, model },
    },
  )
}
