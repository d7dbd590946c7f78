import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Core of the server under test, and core of the load and of the fake upstream. */
export const SERVER_CORE = 0
export const LOAD_CORE = 1

/** Clock ticks a second in /proc, the same on every Linux that Node supports. */
const TICKS_PER_SECOND = 100

/** Whether processes are bound to a core each: with taskset, and two cores or more, bound already or not. */
export function canPin(): boolean {
  if (cpus().length < 2) return false
  try {
    execFileSync('taskset', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Binds this process, with all its threads, to the core of the load. */
export function pinSelf(): void {
  if (canPin()) execFileSync('taskset', ['-acp', String(LOAD_CORE), String(process.pid)], { stdio: 'ignore' })
}

/** Starts a command, bound to a core where processes can be. */
export function spawnOn(
  core: number,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  return canPin()
    ? spawn('taskset', ['-c', String(core), command, ...args], options)
    : spawn(command, args, options)
}

/** Microseconds of CPU, user and system, of all threads of a process so far. */
export function cpuMicrosOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / TICKS_PER_SECOND
}

/** Resident memory of a process in megabytes. */
export function rssMbOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024
}

export interface StartOptions {
  readonly file: string
  /** Options of Node's own. */
  readonly flags?: readonly string[]
  readonly args?: readonly string[]
  readonly core: number
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** A Node process on a core of its own. Its output is kept, and shown if it ends before it was stopped. */
export class NodeProcess {
  readonly pid: number
  readonly #child: ChildProcess
  #output = ''
  #stopping = false

  constructor(options: StartOptions) {
    const node = [...(options.flags ?? []), options.file, ...(options.args ?? [])]
    this.#child = spawnOn(options.core, process.execPath, node, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production', ...options.env },
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    })
    const keep = (data: Buffer) => {
      this.#output = (this.#output + data.toString()).slice(-4000)
    }
    this.#child.stdout?.on('data', keep)
    this.#child.stderr?.on('data', keep)
    this.#child.on('exit', (code, signal) => {
      if (!this.#stopping)
        process.stderr.write(`${options.file} ended (${code ?? signal}):\n${this.#output}\n`)
    })
    if (this.#child.pid === undefined) throw new Error(`could not start ${options.file}`)
    this.pid = this.#child.pid
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** What it printed last, at most 4000 characters. */
  get output(): string {
    return this.#output
  }

  /** The number that the process sends under this name over its channel. */
  receive(name: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#child.off('message', read)
        this.#child.off('exit', fail)
      }
      const read = (message: unknown) => {
        const value: unknown = typeof message === 'object' && message ? Reflect.get(message, name) : undefined
        if (typeof value !== 'number') return
        settle()
        resolve(value)
      }
      const fail = () => {
        settle()
        reject(new Error(`the process ended before it sent its ${name}:\n${this.#output}`))
      }
      this.#child.on('message', read)
      this.#child.on('exit', fail)
    })
  }

  ask(name: string): Promise<number> {
    const answer = this.receive(name)
    this.#child.send({ [name]: true })
    return answer
  }

  /** Microseconds of CPU, user and system, of all its threads so far. */
  cpuMicros(): number {
    return cpuMicrosOf(this.pid)
  }

  /** Resident memory in megabytes. */
  rssMb(): number {
    return rssMbOf(this.pid)
  }

  async stop(): Promise<void> {
    this.#stopping = true
    if (!this.running) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 3000)
    await exited
    clearTimeout(timer)
  }
}
