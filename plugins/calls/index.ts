import { z } from 'zod'
import { Counting, defineArea, kernelServices, ModelCalls } from '#kernel'
import { Budgets } from './budget.ts'
import { PluginCalls } from './calls.ts'
import { carryOver } from './earlier-spending.ts'

export default defineArea({
  settings: z.strictObject({}),

  async setup({ askFirstThread, emit, id, log, provide, store, use }) {
    const budget = () => use(Counting).budget(id)
    const isFirst = askFirstThread('is first', () => true)(undefined) === true
    if (isFirst) await carryOver(await store.counters('spent'), budget())
    const budgets = new Budgets({ budget, dearest: await store.counters('dearest') })
    const calls = new PluginCalls({
      events: { emit },
      log,
      budgets,
      generation: () => use(kernelServices.registry).generation,
      principalOf: (keyId) => use(kernelServices.accounts).principalOf(keyId),
    })
    provide(ModelCalls, calls)
  },
})
