import { z } from 'zod'
import { defineArea, Feedback } from '#kernel'
import { personalOfUsers } from '#kit'
import { addEvidence } from './evidence/index.ts'
import { addFeedbackRoutes } from './feedback/routes.ts'
import { FeedbackStore } from './feedback/store.ts'
import { keepLedger, ledgerSettings } from './ledger/ledger.ts'
import { addPolicies } from './policies/index.ts'
import { addReplays } from './replays/index.ts'
import { addStatusRoute } from './status.ts'

const hourMs = 3_600_000

export default defineArea({
  settings: z.strictObject({
    ...ledgerSettings,
    evidence_days: z.int().min(1).max(3650).default(365).meta({
      title: 'Days of evidence',
      description: 'How long packs of evidence are kept.',
    }),
    feedback_days: z.int().min(1).max(3650).default(365).meta({
      title: 'Days of feedback',
      description: 'How long feedback is kept after it was last changed.',
    }),
  }),

  async setup(context) {
    const feedback = new FeedbackStore(context)
    context.provide(Feedback, feedback)
    context.personal(personalOfUsers(feedback.ofUsers))
    addFeedbackRoutes(context, feedback)
    context.every(hourMs, () => feedback.prune(context.settings.feedback_days))
    const ledger = keepLedger(context)
    const policies = await addPolicies(context, ledger)
    const { segments } = ledger
    addEvidence(context, { segments, policies }, ledger, context.settings.evidence_days)
    const replays = addReplays(context)
    addStatusRoute(context, { ledger, policies, replays, feedback })
  },
})
