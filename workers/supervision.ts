import type { ResourceLimits, Transferable } from 'node:worker_threads'
import { HookFault } from '../kit/work/hook-fault.ts'
import type { Handlers, Methods, RpcOptions, RpcPort } from '../storage/shared/rpc-port.ts'

/** The failure of a question to a worker that was lost. */
export class WorkerLost extends HookFault {
  /** Why: in the kernel's words, without those of the code that ran there. */
  readonly reason: string

  /** `cause` is what was thrown there, if that is why. */
  constructor(reason: string, cause?: unknown, what = 'its worker was lost') {
    super(`${what}: ${reason}`)
    this.reason = reason
    this.cause = cause
  }
}

/** Bounds of a worker, in milliseconds and MB. */
export interface SupervisedLimits {
  /** Until it is ready. */
  readonly startMs?: number
  /** Without a sign of life, until it is ended. */
  readonly hangMs?: number
  /** Without anything to do, until it is ended; the next call starts another. */
  readonly idleMs?: number
  /** Of JavaScript objects; a worker that needs more is ended. */
  readonly heapMb?: number
  /** Of the young generation, all of which a worker under load touches and keeps. */
  readonly youngMb?: number | undefined
}

export interface SupervisedOptions<Theirs extends Methods, Ours extends Methods, Ready> {
  /** The file it runs, without its ending, and the file that this is relative to, whose ending it has. */
  readonly entry: readonly [file: string, from: string]
  /** The name that debuggers show in their lists of threads. */
  readonly name?: string
  /** The data that each worker is started with, and the objects that are transferred with it. */
  readonly data?: () => { readonly value: unknown; readonly transfer?: readonly Transferable[] }
  readonly env?: NodeJS.ProcessEnv
  /** Options of Node on the command line; those of this thread by default. */
  readonly execArgv?: string[]
  readonly limits: SupervisedLimits
  /** Answers what the worker asks. */
  readonly methods: Handlers<Ours>
  readonly rpc?: RpcOptions
  /** Asks the worker to begin; it is ready when this has resolved. Without it, a worker is ready at once. */
  readonly begin?: (worker: RpcPort<Theirs, Ours>) => Promise<Ready>
  /** Looks for signs of life also while nothing is asked of it. */
  readonly works?: boolean
  /** Called when a ready worker ended unexpectedly, before its calls reject. */
  readonly lost?: (lost: WorkerLost) => void
  /** Starts another for one that was lost; else the next `start` does. */
  readonly restart?: Restart
}

export interface Restart {
  /** Milliseconds until another is started; twice as many after each start that fails, up to a minute. */
  readonly pauseMs: number
  /** Starts it, when that suits. */
  readonly run: (start: () => Promise<unknown>) => Promise<void>
}

/** MB of a young generation: messages are small. */
const youngMb = 24

export function resourceLimitsOf({ heapMb, ...limits }: SupervisedLimits): ResourceLimits {
  const young = 'youngMb' in limits ? limits.youngMb : youngMb
  return {
    ...(heapMb !== undefined && { maxOldGenerationSizeMb: heapMb }),
    ...(young !== undefined && { maxYoungGenerationSizeMb: young }),
  }
}

/** Why a worker ended with this code: because of what was thrown in it, if anything was, of which the words are left out. */
export function reasonOf(exitCode: number, thrown: readonly unknown[]): string {
  if (thrown.length === 0) return `it ended with code ${exitCode}`
  const { code, name } = (thrown[0] ?? {}) as NodeJS.ErrnoException
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return 'it used more memory than it may'
  return `${name ?? typeof thrown[0]} was thrown in it`
}
