import { z } from 'zod'
import { AlertPulse, CallTraced, defineArea, TraceReader } from '#kernel'
import { personalOfUsers } from '#kit'
import { sendOn } from './channels.ts'
import { Evaluation } from './evaluation.ts'
import { AlertFired, AlertResolved } from './events.ts'
import { Firings } from './firings.ts'
import { History } from './history.ts'
import { PersonalHistory } from './personal-history.ts'
import { addHandlingRoutes } from './routes/handling.ts'
import { addHistoryRoute } from './routes/history.ts'
import { addPreviewRoute } from './routes/preview.ts'
import { addRuleRoutes } from './routes/rules.ts'
import { Rules } from './rules.ts'
import { type Sample, sampleOf } from './sample.ts'
import { Silences } from './silences.ts'

const tickMs = 1000
const hourMs = 3_600_000

export default defineArea({
  settings: z.strictObject({}),

  async setup(context) {
    const { store, log, signal, own, use, find, on, event, every, inFirstThread, personal } = context
    event(AlertFired)
    event(AlertResolved)
    const rules = new Rules(context)
    const history = new History(store)
    const firings = new Firings(context, history)
    const silences = new Silences(store)
    await Promise.all([firings.load(), silences.load()])
    const evaluation = new Evaluation({ firings, silences, traces: () => use(TraceReader), log, signal })
    own(await rules.follow((id, row) => evaluation.take(id, row)))

    const pulse = () => find(AlertPulse)?.settings()
    const count = inFirstThread('count', (sample: Sample) => {
      const settings = pulse()
      if (settings) evaluation.count(sample, settings.mostGroups)
    })
    on(CallTraced, ({ trace }) => {
      if (!evaluation.isWatching || !pulse()) return
      const sample = sampleOf(trace)
      if (sample) count(sample)
    })
    on(AlertFired, (told, occurrence) => sendOn(context, history, told, occurrence))
    on(AlertResolved, (told, occurrence) => sendOn(context, history, told, occurrence))
    every(tickMs, () => evaluation.tick(Date.now(), pulse()))
    every(hourMs, async () => {
      await history.prune(Date.now())
      await silences.prune(Date.now())
    })

    const standings = { evaluation, firings, silences, history, pulse }
    addRuleRoutes(context, rules, standings)
    addHistoryRoute(context, history)
    addHandlingRoutes(context, rules, standings)
    addPreviewRoute(context, pulse)
    const ofUsers = new PersonalHistory(evaluation, firings, history)
    personal(personalOfUsers({ count: (user) => ofUsers.count(user), erase: (user) => ofUsers.erase(user) }))
  },
})
