import type { Logger } from 'pino'

/** Leveled, structured logging: `log.info({ port }, 'listening')`. Facts go into the object, not into the text. */
export interface Log extends Pick<Logger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  level: string
  /** A log that adds these facts to each line, such as the component that speaks. */
  child(facts: Readonly<Record<string, unknown>>): Log
}
