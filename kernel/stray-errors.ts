import type { Log } from './log.ts'
import type { Plugin } from './plugin/plugin-record.ts'

/**
 * Has the process outlive errors that nobody catches when they come from a plugin from outside, such as from a timer or a
 * promise of its own: they are logged, and told among the plugin's events. Any other ends the process, as without this.
 */
export function outliveStrayErrors(log: Log, plugins: () => readonly Plugin[]): void {
  process.on('uncaughtException', (error: unknown) => {
    const stack = error instanceof Error ? (error.stack ?? '') : ''
    const id = /\/staged\/([^/@]+)@/.exec(stack)?.[1]
    if (id === undefined) {
      log.fatal({ err: error }, 'an error that nobody caught ends the process')
      process.exit(1)
    }
    const plugin = plugins().find((one) => one.id === id)
    plugin?.meter.event('stray', error instanceof Error ? error.message : String(error))
    log.error({ plugin: id, err: error }, 'a plugin left an error that nobody caught')
  })
}
