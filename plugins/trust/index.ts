import { z } from 'zod'
import { defineArea, Feedback } from '#kernel'
import { personalOfUsers } from '#kit'
import { addFeedbackRoutes } from './feedback/routes.ts'
import { FeedbackStore } from './feedback/store.ts'
import { keepLedger, ledgerSettings } from './ledger/ledger.ts'
import { addPolicies } from './policies/index.ts'

export default defineArea({
  settings: z.strictObject({ ...ledgerSettings }),

  async setup(context) {
    const feedback = new FeedbackStore(context.store)
    context.provide(Feedback, feedback)
    context.personal(
      personalOfUsers({ count: (id) => feedback.countOf(id), erase: (id) => feedback.eraseOf(id) }),
    )
    addFeedbackRoutes(context, feedback)
    const ledger = keepLedger(context)
    await addPolicies(context, ledger)
  },
})
