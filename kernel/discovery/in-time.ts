import type { Discovered } from './manifest.ts'

/** How long an import or a setup may take unless the configuration says otherwise, in milliseconds. */
const defaultSetupMs = 30_000

/**
 * How long a plugin's import or its setup may take, in milliseconds. A short limit is for code from outside: without
 * its own plugins a gateway on a slow machine would answer nothing.
 */
export const setupLimit = ({ source }: Discovered, setupMs = defaultSetupMs): number =>
  source === 'builtin' ? Math.max(setupMs, defaultSetupMs) : setupMs

/** Resolves as the work does, or throws after so many milliseconds; its later result is ignored. */
export async function inTime<T>(work: Promise<T> | T, ms: number, does: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${does} took longer than ${ms / 1000} seconds`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
