import { z } from 'zod'
import { defineModule } from '#kernel'
import { Snapshot, snapshotRoom } from './snapshot.ts'

export default defineModule({
  settings: z.strictObject({
    store_chunks: z.boolean().default(false).meta({
      title: 'Chunk timings',
      description: 'Whether the trace records when each chunk arrived.',
    }),
    max_bytes: z.int().min(1024).max(268_435_456).default(4_194_304).meta({
      title: 'Largest stream',
      description:
        'Bytes of a stream that are kept until its end. The rebuilt answer of a longer stream is truncated. Of streams over 256 KB, 16 times as many are kept together; with more of them, the answer of the one that was so long first is not rebuilt.',
    }),
  }),

  setup({ settings, slot }) {
    const room = snapshotRoom(settings.max_bytes)
    const watched = slot<{ snapshot?: Snapshot }>(() => ({}))
    return {
      stream(call) {
        const snapshot = new Snapshot({
          maxBytes: settings.max_bytes,
          storeTimings: settings.store_chunks,
          started: call.trace.started,
          room,
        })
        watched(call).snapshot = snapshot
        call.trace.body = () => snapshot.completion()
        return snapshot
      },
      settled({ usage, ending }, call) {
        const { snapshot } = watched(call)
        if (!snapshot) return
        snapshot.leave()
        call.trace.facts.stream = snapshot.facts(usage.output, ending === 'client_abort')
      },
    }
  },
})
