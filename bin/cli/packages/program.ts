import { type ChildProcess, spawn } from 'node:child_process'

export interface ProgramOptions {
  /** The program's name in messages. */
  readonly name: string
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
  /** How long it may take, in milliseconds. */
  readonly limitMs: number
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined
}

export interface Ended {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined
  readonly out: string
  readonly err: string
}

/** The longest that is kept of each output, and the longest line that an error shows of it, in characters. */
const keptLength = 64 * 2 ** 20
const shownLength = 300

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a program to its end. At the time limit, and when this process gets a signal to end, it kills the program with all its
 * child processes; the error has the program's last output. Rejects also when it cannot be started, or the signal ends it.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { name, cwd, env, limitMs, signal }: ProgramOptions,
): Promise<Ended> {
  signal?.throwIfAborted()
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = Promise.withResolvers<number | undefined>()
  const [out, err] = [gather(child.stdout), gather(child.stderr)]
  child.on('error', ended.reject)
  child.on('close', (code) => ended.resolve(code ?? undefined))
  const stop = (error: unknown): void => {
    killAll(child)
    ended.reject(error)
  }
  const timer = setTimeout(() => stop(overrun(name, limitMs, err.text() || out.text())), limitMs)
  const abort = (): void => stop(signal?.reason)
  const leave = (by: NodeJS.Signals): void => {
    killAll(child)
    process.kill(process.pid, by)
  }
  signal?.addEventListener('abort', abort)
  for (const one of ending) process.once(one, leave)
  try {
    return { code: await ended.promise, out: out.text(), err: err.text() }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    for (const one of ending) process.off(one, leave)
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

/** The output so far. */
function gather(stream: NodeJS.ReadableStream): { text(): string } {
  const parts: Buffer[] = []
  let length = 0
  stream.on('data', (part: Buffer) => {
    length += part.length
    if (length <= keptLength) parts.push(part)
  })
  stream.on('error', () => {})
  return { text: () => Buffer.concat(parts).toString() }
}

/** It leads a group of its own, which its children are in. */
function killAll({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // None of them is left.
  }
}

function overrun(name: string, limitMs: number, said: string): Error {
  const last = said.trim().split('\n').at(-1)?.slice(0, shownLength)
  return new Error(
    `${name} took longer than ${limitMs / 1000} seconds and was ended (--timeout changes the limit). ` +
      (last ? `Its last output: ${last}` : 'It had no output.'),
  )
}
