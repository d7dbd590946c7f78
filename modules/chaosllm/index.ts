import { z } from 'zod'
import { type Attempt, type Call, conflict, defineModule, type Fault, Faults, kernelServices } from '#kernel'
import { faultsOf, ruleSchema } from './rules.ts'

/** Says which attempts get a fault; delivery makes it, where the bytes of the provider come in. */
export default defineModule({
  settings: z.strictObject({
    rules: z.array(ruleSchema).max(50).default([]).meta({
      title: 'Rules',
      description:
        'Faults and how often they occur. An attempt gets the fault of the first rule that hits it.',
    }),
    seed: z.int().min(0).max(4_294_967_295).default(1).meta({
      title: 'Seed',
      description: 'The same seed gives the same sequence of faults.',
    }),
  }),

  once({ use, provide }) {
    if (use(kernelServices.environment).SERVICE_ALLOW_CHAOS !== '1') {
      throw conflict(
        'chaosllm breaks calls on purpose. To allow that, start the gateway with SERVICE_ALLOW_CHAOS=1 in its environment.',
      )
    }
    const planned = new WeakMap<object, Fault>()
    provide(Faults, { of: (attempt) => planned.get(attempt.identity) })
    return planned
  },

  setup({ id, settings: { rules, seed }, mode }, planned) {
    if (rules.length === 0) return {}
    const faultFor = faultsOf(rules, seed)
    return {
      attempt(attempt: Attempt, call: Call) {
        const hit = faultFor(attempt)
        if (!hit) return
        call.trace.note(id, 'injected', { fault: hit.name, attempt: attempt.n })
        if (mode === 'enforce') planned.set(attempt.identity, hit.fault)
      },
    }
  },
})
