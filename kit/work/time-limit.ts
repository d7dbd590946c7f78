import { createContext, Script } from 'node:vm'

/**
 * Runs synchronous work that a stranger can make endless, and ends it after so many milliseconds: it throws then, and what the
 * work left half done must not be used again. Costs a thread for its time, some tenths of a millisecond.
 */
export function withinTime<T>(ms: number, work: () => T): T {
  try {
    return new Script('work()').runInContext(createContext({ work }), { timeout: ms }) as T
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new Error(`it takes longer than ${ms} ms`)
    throw error
  }
}
