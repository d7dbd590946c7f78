/** Does things, so many at a time. After the first that throws no other begins, and it is thrown once all have ended. */
export async function inTurns<T>(
  items: readonly T[],
  most: number,
  signal: AbortSignal,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  let first: { readonly error: unknown } | undefined
  const work = async (): Promise<void> => {
    for (const item of rest) {
      if (signal.aborted || first) return
      await run(item).catch((error: unknown) => {
        first ??= { error }
      })
    }
  }
  await Promise.all(Array.from({ length: most }, work))
  signal.throwIfAborted()
  if (first) throw first.error
}
