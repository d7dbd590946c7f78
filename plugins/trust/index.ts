import { z } from 'zod'
import { defineArea, Feedback } from '#kernel'
import { personalOfUsers } from '#kit'
import { addFeedbackRoutes } from './feedback/routes.ts'
import { FeedbackStore } from './feedback/store.ts'

export default defineArea({
  settings: z.strictObject({}),

  setup(context) {
    const feedback = new FeedbackStore(context.store)
    context.provide(Feedback, feedback)
    context.personal(
      personalOfUsers({ count: (id) => feedback.countOf(id), erase: (id) => feedback.eraseOf(id) }),
    )
    addFeedbackRoutes(context, feedback)
  },
})
