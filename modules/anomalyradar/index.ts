import { z } from 'zod'
import { Anomalies, defineModule, type FoundAnomaly } from '#kernel'
import { Learned, personalOfUsers } from '#kit'
import { type Limits, type Observation, observationOf } from './observation.ts'
import { nameOf, Radar } from './radar.ts'
import { Records } from './records.ts'
import { type PackedSubject, packedSubject, Subject } from './subject.ts'

const turnMs = 1000
const saveMs = 60_000
/** Models and users that are known at a time; each takes 40 KB at the most. */
const mostSubjects = 500

export default defineModule({
  settings: z.strictObject({
    z: z.number().min(2).max(100).default(4).meta({
      title: 'Spreads',
      description: 'How many spreads above the median a figure is unusual. Higher finds less.',
    }),
    warmup: z.int().min(10).max(1000).default(50).meta({
      title: 'Warm-up',
      description: 'Calls of a model or a user before anything is said of it.',
    }),
    min_latency_ms: z.number().min(0).max(3_600_000).default(1000).meta({
      title: 'Slow',
      description: 'A call that is faster is never slow, whatever is usual for its model.',
    }),
  }),

  async once(context) {
    const { every, inFirstThread, own, personal, slot, store, use } = context
    const subjects = new Learned<PackedSubject, Subject>({
      rows: store.collection('subjects', { schema: packedSubject }),
      most: mostSubjects,
      unpack: (row) => new Subject(row, row),
    })
    await subjects.load()
    const records = new Records(() => use(Anomalies))
    const radar = new Radar(subjects, (anomaly) => records.add(anomaly))
    every(turnMs, async () => {
      radar.turn(Date.now())
      await records.flush()
    })
    every(saveMs, () => subjects.write())
    own(() => subjects.flush())
    personal(
      personalOfUsers({
        count: (user) => (subjects.get(nameOf.user(user)) ? 1 : 0),
        erase: async (user) => Number(await subjects.delete(nameOf.user(user))),
      }),
    )

    let found: FoundAnomaly | undefined
    const learn = inFirstThread('learn', (observation: Observation) => {
      found = radar.learn(observation)
    })
    return {
      /** Learns a call, and returns what is unusual about it; in other threads than the first, nothing is returned. */
      learn(observation: Observation): FoundAnomaly | undefined {
        found = undefined
        learn(observation)
        return found
      },
      /** How many configurations learn; a call that several are for is learned once. */
      configurations: 0,
      isLearned: slot(() => ({ already: false })),
    }
  },

  setup({ id, settings, mode, own }, radar) {
    radar.configurations += 1
    own(() => {
      radar.configurations -= 1
    })
    const limits: Limits = {
      z: mode === 'shadow' ? Number.POSITIVE_INFINITY : settings.z,
      warmup: settings.warmup,
      minLatencyMs: settings.min_latency_ms,
    }
    return {
      settled(outcome, call) {
        if (call.context.source !== 'proxy') return
        if (radar.configurations > 1) {
          const learned = radar.isLearned(call)
          if (learned.already) return
          learned.already = true
        }
        const found = radar.learn(observationOf(outcome, call, limits))
        if (!found) return
        const dimensions = found.dimensions.map(({ metric, by }) => `${metric} by ${by}`).sort()
        call.trace.note(id, 'outlier', { dimensions })
      },
    }
  },
})
