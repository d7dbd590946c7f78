import { type DestinationStream, pino } from 'pino'
import type { Config } from '../config/config.ts'
import type { Log } from '../kernel/log.ts'
import { redactLine } from '../kit/detection/log-redaction.ts'
import { forTerminal } from './terminal.ts'

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
