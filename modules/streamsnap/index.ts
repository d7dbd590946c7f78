import { z } from 'zod'
import { defineModule } from '#kernel'
import { Snapshot } from './snapshot.ts'

export default defineModule({
  settings: z.strictObject({
    store_chunks: z.boolean().default(false).meta({
      title: 'Chunk timings',
      description: 'Whether the trace records when each chunk arrived.',
    }),
    max_bytes: z.int().min(1024).max(268_435_456).default(4_194_304).meta({
      title: 'Largest stream',
      description:
        'Bytes of a stream that are kept until its end. The rebuilt answer of a longer stream is truncated.',
    }),
  }),

  setup({ settings, slot }) {
    const watched = slot<{ snapshot?: Snapshot }>(() => ({}))
    return {
      stream(call) {
        const snapshot = new Snapshot({
          maxBytes: settings.max_bytes,
          storeTimings: settings.store_chunks,
          started: call.trace.started,
        })
        watched(call).snapshot = snapshot
        call.trace.body = () => snapshot.completion()
        return snapshot
      },
      settled({ usage, ending }, call) {
        const { snapshot } = watched(call)
        if (snapshot) call.trace.facts.stream = snapshot.facts(usage.output, ending === 'client_abort')
      },
    }
  },
})
