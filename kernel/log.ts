import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../config/config.ts'
import { redactLine } from './log/redact.ts'
import { forTerminal } from './log/terminal.ts'

/** Leveled, structured logging: `log.info({ port }, 'listening')`. Facts go into the object, not into the text. */
export interface Log extends Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  level: string
  /** A log that adds these facts to each line, such as the component that speaks. */
  child(facts: Readonly<Record<string, unknown>>): Log
}

export interface LogOptions {
  readonly level: Config['logLevel']
  /** The destination of lines: standard error by default. */
  readonly stream?: DestinationStream & { readonly isTTY?: boolean }
}

/**
 * JSON lines, or readable ones on a terminal. Secrets are taken out of the finished line, so whatever was logged, by
 * whichever way, neither fields named like secrets nor texts that look like keys come out.
 */
export function createLog({ level, stream = process.stderr }: LogOptions): Log {
  const present = stream.isTTY ? (line: string) => forTerminal(redactLine(line)) : redactLine
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write: (line: string) => {
        stream.write(present(line))
      },
    },
  )
}
