import type { ServerResponse } from 'node:http'

/** Resolves when a slow client has room again, or is gone. */
export function roomOf(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.once('drain', done)
    res.once('close', done)
  })
}
