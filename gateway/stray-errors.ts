import type { Log } from '../kernel/log.ts'
import type { Plugin } from '../kernel/plugin/plugin-record.ts'
import { contain } from '../kit/work/contain.ts'

interface StrayErrorParts {
  readonly log: Log
  readonly plugins: () => readonly Plugin[]
  /** Lets running calls end, and ends the process, or the thread. */
  readonly drain: () => void
}

/** Error codes of a connection whose other end has left: the connection is over, and nothing else is wrong. */
const ofConnections = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_DESTROYED'])

/**
 * Lets the process outlive uncaught errors, as long as the state of the gateway is not in doubt. Errors of a plugin from
 * outside are logged, and shown among its events. An unhandled promise rejection, and a connection that broke off, are logged,
 * since the code has already cleaned up on the way out. Any other exception may have left something half done, so running calls
 * end, and then the process.
 */
export function outliveStrayErrors({ log, plugins, drain }: StrayErrorParts): void {
  let isDraining = false
  const take = contain('an uncaught error', (error: unknown, origin: NodeJS.UncaughtExceptionOrigin) => {
    const facts = { err: error, origin, at: placeOf(error) }
    const id = pluginOf(error)
    if (id !== undefined) {
      const plugin = plugins().find((one) => one.id === id)
      plugin?.meter.event('stray', error instanceof Error ? error.message : String(error))
      log.error({ plugin: id, ...facts }, 'an uncaught error of a plugin')
    } else if (origin === 'unhandledRejection') {
      log.error(facts, 'an unhandled promise rejection')
    } else if (ofConnections.has((error as NodeJS.ErrnoException | null)?.code ?? '')) {
      log.warn(facts, 'an unhandled error of a connection')
    } else {
      log.fatal(facts, 'an uncaught error ends the process after running calls have ended')
      if (isDraining) return
      isDraining = true
      drain()
    }
  })
  process.on('uncaughtException', take)
  // The reader of the log may end before the gateway does.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** The plugin from outside whose code threw it: it runs from a copy in a folder of its own. */
function pluginOf(error: unknown): string | undefined {
  return /\/staged\/([^/@]+)@/.exec(stackOf(error))?.[1]
}

/** The first place in the stack. */
const placeOf = (error: unknown): string | undefined => /^ {4}at (.*)$/m.exec(stackOf(error))?.[1]

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : '')
