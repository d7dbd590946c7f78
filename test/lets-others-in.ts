import { setImmediate as turnEnds } from 'node:timers/promises'

/** Waits for the end of long work. Whether others had their turn before. */
export async function letsOthersIn(work: Promise<unknown>): Promise<boolean> {
  let isOver = false
  const ended = work.then(() => {
    isOver = true
  })
  await turnEnds()
  const wasOver = isOver
  await ended
  return !wasOver
}
