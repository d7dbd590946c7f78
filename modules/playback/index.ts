import { hash } from 'node:crypto'
import path from 'node:path'
import { z } from 'zod'
import {
  type Call,
  type Completion,
  defineModule,
  isGatewayError,
  kernelServices,
  SealedBodies,
} from '#kernel'
import { answeredRequest, answerKey, answerSharing, circleOf, personalOfUsers, Writes } from '#kit'
import { Cassette } from './cassette.ts'
import { Cleaner } from './clean.ts'
import { missing, unreadable } from './miss.ts'
import { NearestSearch } from './nearest.ts'
import { Owners } from './owners.ts'
import type { Step } from './pace.ts'
import { played } from './played.ts'
import { recorded } from './recorded.ts'
import type { Question, Recording } from './recording.ts'

/** A call as it is looked for. */
interface Asked {
  readonly file: string
  readonly question: Question
}

export default defineModule({
  settings: z.strictObject({
    mode: z.enum(['auto', 'record', 'replay']).default('auto').meta({
      title: 'Mode',
      description:
        'auto replays what was recorded and records the rest; record asks the provider every time; replay refuses what was not recorded.',
    }),
    cassette: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)
      .default('default')
      .meta({
        title: 'Cassette',
        description: 'The folder with the recordings, below files/playback in the data folder.',
      }),
    share: answerSharing,
    pace: z.enum(['recorded', 'none']).default('recorded').meta({
      title: 'Pace',
      description: 'Whether replayed answers come as fast as they were recorded, or at once.',
    }),
    max_recordings: z.int().min(1).max(10_000).default(1000).meta({
      title: 'Maximum recordings',
      description: 'Recordings that the cassette takes; further answers are not recorded.',
    }),
  }),

  async setup({ id, settings, store, use, find, personal, report, log }) {
    const { mode, cassette: name, share, pace, max_recordings } = settings
    const folder = await use(kernelServices.files).folder({ id })
    const cassette = new Cassette(path.join(folder, name), max_recordings)
    const nearest = new NearestSearch(cassette)
    const cleaner = new Cleaner()
    const owners = new Owners(store, folder)
    const writes = new Writes()
    personal(
      personalOfUsers({
        count: (user) => owners.countOf(user),
        erase: (user) => writes.all().then(() => owners.eraseOf(user)),
      }),
    )

    /** Throws 413 where it takes too long to look for secrets. The key is of the clean question: a hash would let them be guessed. */
    function askedOf(call: Call): Asked {
      const request = cleaner.clean(answeredRequest(call.request))
      const circle = circleOf(call, share)
      const file = Cassette.nameOf(request.model, answerKey(call.with({ request }), circle))
      return { file, question: { operation: call.operation, circle: markOf(circle), request } }
    }

    async function recordingOf(file: string): Promise<Recording | undefined> {
      try {
        return await cassette.find(file)
      } catch {
        throw unreadable(name, file)
      }
    }

    async function keep(call: Call, { file, question }: Asked, body: Completion, steps: readonly Step[]) {
      if (find(SealedBodies)?.subjectOf(call.principal)) {
        report('not_recorded', `${file}: what its caller sends is sealed`)
        return
      }
      const recording = { ...question, answer: cleaner.cleanAnswer(body), steps }
      const { userId } = call.principal
      const reason = await owners.keeping(userId, name, file, () => cassette.keep(file, recording))
      if (reason) report('not_recorded', `${file}: ${reason}`)
    }

    return {
      async around(call, next) {
        let asked: Asked
        try {
          asked = askedOf(call)
        } catch (error) {
          if (mode === 'replay' || !isGatewayError(error)) throw error
          call.trace.note(id, 'not_recorded')
          return next(call)
        }
        const { file, question } = asked
        await writes.of(file)
        const found = mode === 'record' ? undefined : await recordingOf(file)
        if (!found && mode === 'replay') throw missing(name, await nearest.find(question, call.signal))
        call.trace.facts.playback = { cassette: name, file, replayed: found !== undefined }
        call.trace.header('X-Playback', found ? 'replayed' : 'recording')
        if (found) return played(call, found, pace)
        const began = performance.now()
        return recorded(await next(call), began, (body, steps) => {
          writes
            .run(file, () => keep(call, asked, body, steps))
            .catch((error: unknown) => log.warn({ err: error }, 'an answer was not recorded'))
        })
      },
    }
  },
})

/** The same for callers of one circle; it tells of nobody. */
const markOf = (circle: string): string => hash('sha256', circle).slice(0, 16)
