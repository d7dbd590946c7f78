import type { Sink } from './sink.ts'

/** Writes lines to standard output, which the gateway's own log does not use. */
export const stdoutSink: Sink = {
  write: (lines) =>
    new Promise((resolve, reject) => {
      process.stdout.write(lines.join(''), (error) => (error ? reject(error) : resolve()))
    }),
}
