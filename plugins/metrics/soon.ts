/** How long a scrape waits for other threads, in milliseconds: longer than an idle one needs, and a fraction of its limit. */
const mostWaitMs = 5

/** Resolves when the promise is settled, or shortly afterwards without it: other threads may be busy. */
export async function soon(promise: Promise<unknown>): Promise<void> {
  const { promise: isTime, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const timer = setTimeout(end, mostWaitMs)
  promise.then(end, end)
  await isTime
  clearTimeout(timer)
}
