import { z } from 'zod'
import { defineEvent } from '../events.ts'

export const ThreadEnded = defineEvent('thread.ended', z.object({ thread: z.int() }), {
  description:
    'One of several threads ended; what ran in it is lost. Unless the gateway stops, another takes its place.',
})
