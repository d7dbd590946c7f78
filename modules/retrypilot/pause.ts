import type { Cancel } from '#kernel'

/** Waits; rejects with the reason as soon as the call is over. */
export function pause(ms: number, cancel: Cancel): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget()
      resolve()
    }, ms)
    const forget = cancel.onAbort((reason) => {
      clearTimeout(timer)
      reject(reason)
    })
  })
}
