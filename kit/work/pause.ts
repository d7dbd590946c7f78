import type { Cancel } from './cancel.ts'
import { contain } from './contain.ts'

/** Waits so many milliseconds; rejects with the reason as soon as the call is over. */
export function pause(ms: number, cancel: Cancel): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = contain('a pause', () => {
      forget()
      resolve()
    })
    const timer = setTimeout(ended, ms)
    const forget = cancel.onAbort((reason) => {
      clearTimeout(timer)
      reject(reason)
    })
  })
}
