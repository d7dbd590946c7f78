import type { Completion, Reply } from '#kernel'
import { filterStream, isStorable, watched } from '#kit'
import { atOnce, type Step, Stopwatch } from './pace.ts'

/** The answer, handed to `done` with its pace when the whole of it has come, if it may be given again. */
export function recorded(
  reply: Reply,
  began: number,
  done: (body: Completion, steps: readonly Step[]) => void,
): Reply {
  if (reply.kind === 'whole') {
    return watched(reply, (body) => {
      if (isStorable(body, true)) done(body, atOnce(body, performance.now() - began))
    })
  }
  const stopwatch = new Stopwatch(began)
  const timed = filterStream(reply.chunks, [
    {
      push(chunk, out) {
        stopwatch.add(chunk.data)
        out.emit(chunk)
      },
    },
  ])
  return watched(reply.through(timed), (body) => {
    if (isStorable(body, true)) done(body, stopwatch.steps)
  })
}
