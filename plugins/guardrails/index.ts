import { z } from 'zod'
import { defineArea, GuardrailRules } from '#kernel'
import { longestGuardrailMatch, personalOfUsers, retained } from '#kit'
import { addFigureRoutes } from './routes/figures.ts'
import { addHistoryRoute } from './routes/history.ts'
import { addRuleRoutes } from './routes/rules.ts'
import { addTestRoute } from './routes/test.ts'
import { Rules } from './rules.ts'
import { Violations } from './violations.ts'

export default defineArea({
  settings: z.strictObject({}),

  async setup(context) {
    const rules = new Rules(context)
    const violations = await Violations.open(context, rules)
    context.own(await rules.load())
    retained(context, { sweep: (ages) => violations.prune(ages('events')) })
    context.provide(GuardrailRules, {
      reach: 2 * longestGuardrailMatch,
      compile: (owner, own) => rules.compile(owner, own),
      rulesFor: (call, direction, from) => rules.rulesFor(call, direction, from),
      any: (from) => rules.any(from),
      record: (call, direction, hits) => violations.record(call, direction, hits),
    })
    context.personal(
      personalOfUsers({
        count: async (id) => (await violations.log.list({ where: { user_id: id }, limit: 0 })).total,
        erase: (id) => violations.log.erase(({ user_id }) => user_id === id),
      }),
    )
    addRuleRoutes(context, rules, violations)
    addTestRoute(context, rules)
    addHistoryRoute(context, rules)
    addFigureRoutes(context, violations)
  },
})
