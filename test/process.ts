import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { main } from './built.ts'

/** A gateway in a process of its own, as an operator runs it. */
export interface GatewayProcess {
  readonly url: string
  readonly child: ChildProcess
  /** Everything it has printed. */
  output(): string
  /** Ends it with this signal; resolves with its exit code, null when the signal killed it. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Of this process's environment what others need to run: where programs lie, and what was compiled before. */
export const inherited = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }

/** Starts `switchyard start` on a free port, in this folder or another; resolves when it listens. */
export function startProcess(
  env: Record<string, string>,
  cwd = process.cwd(),
  file = main,
): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [file, 'start'], {
    cwd,
    env: { ...inherited, SERVICE_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return listening(child, (signal) => child.kill(signal))
}

/** The gateway that a process runs, or one that it has started; resolves when it listens. */
export async function listening(
  child: ChildProcess,
  kill: (signal: NodeJS.Signals) => unknown,
): Promise<GatewayProcess> {
  let output = ''
  const exited = once(child, 'exit')
  const heard = new Promise<string>((resolve) => {
    const hear = (text: string): void => {
      output += text
      const url = /listens on (http:\S+)/.exec(output)?.[1]
      if (url) resolve(url)
    }
    child.stdout!.setEncoding('utf8').on('data', hear)
    child.stderr!.setEncoding('utf8').on('data', hear)
  })
  const url = await Promise.race([heard, exited.then(() => undefined)])
  if (!url) throw new Error(`the gateway ended before it listened:\n${output}`)
  return {
    url,
    child,
    output: () => output,
    async end(signal) {
      kill(signal)
      const [code] = await exited
      return code as number | null
    },
  }
}
