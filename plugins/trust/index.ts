import { z } from 'zod'
import { defineArea, Feedback, Ledger, Sealing } from '#kernel'
import { personalOfUsers } from '#kit'
import { addFeedbackRoutes } from './feedback/routes.ts'
import { FeedbackStore } from './feedback/store.ts'
import { Chain } from './ledger/chain.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const { store, use, provide } = context
    const feedback = new FeedbackStore(store)
    provide(Feedback, feedback)
    context.personal(
      personalOfUsers({ count: (id) => feedback.countOf(id), erase: (id) => feedback.eraseOf(id) }),
    )
    addFeedbackRoutes(context, feedback)

    provide(Ledger, new Chain(store, () => use(Sealing)))
  },
})
