import type { Log } from '../kernel/log.ts'
import { readable } from '../kit/readable.ts'
import { thrownOf } from '../workers/thrown.ts'
import type { Host } from './guest-calls.ts'

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

type Facts = Readonly<Record<string, unknown>>

/** A log whose lines are written on the other side. */
export function guestLog(host: () => Host, more: Facts = {}): Log {
  const write =
    (level: (typeof levels)[number]) =>
    (first: unknown, second?: string): void => {
      const [said, message = ''] = typeof first === 'string' ? [{}, first] : [plain(first), second]
      host().notify('log', { level, facts: { ...more, ...said }, message })
    }
  return {
    level: 'trace',
    ...Object.fromEntries(levels.map((level) => [level, write(level)])),
    child: (facts: Facts) => guestLog(host, { ...more, ...facts }),
  } as unknown as Log
}

/** Facts of a log line without what cannot cross; none of a line whose facts cannot be put into words. */
function plain(facts: unknown): Facts {
  const clean = readable(() => JSON.stringify(facts, described))
  return clean === undefined ? {} : JSON.parse(clean)
}

const described = (_: string, value: unknown): unknown =>
  value instanceof Error ? { ...thrownOf(value), stack: value.stack } : value
