import type { Log } from '../log.ts'
import type { ToHost } from './messages.ts'
import { thrownOf } from './thrown.ts'

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** A log whose lines are written on the other side. */
export function guestLog(
  tell: (message: ToHost) => void,
  facts: Readonly<Record<string, unknown>> = {},
): Log {
  const write =
    (level: (typeof levels)[number]) =>
    (first: unknown, message?: string): void => {
      const said = typeof first === 'string' ? {} : plain(first)
      tell({
        kind: 'log',
        level,
        facts: { ...facts, ...said },
        message: typeof first === 'string' ? first : (message ?? ''),
      })
    }
  return {
    level: 'trace',
    ...Object.fromEntries(levels.map((level) => [level, write(level)])),
    child: (more: Readonly<Record<string, unknown>>) => guestLog(tell, { ...facts, ...more }),
  } as unknown as Log
}

/** Facts of a log line without what cannot cross; none of a line whose facts cannot be put into words. */
function plain(facts: unknown): Record<string, unknown> {
  try {
    const clean = JSON.stringify(facts, (_, value) => (value instanceof Error ? told(value) : value))
    return clean === undefined ? {} : (JSON.parse(clean) as Record<string, unknown>)
  } catch {
    return {}
  }
}

const told = (error: Error) => ({ ...thrownOf(error), stack: error.stack })
