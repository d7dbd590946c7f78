import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine, StoreProblem } from '../index.ts'
import { openLevel } from '../level.ts'
import { HostStore } from './host-store.ts'
import type { OpenPart, StoreNews } from './messages.ts'
import { Peers } from './peers.ts'

/** The side of the store, with a thread that a test speaks for. */
export interface Hosted {
  readonly engine: Engine
  readonly host: HostStore
  readonly peers: Peers
  /** What the thread was told. */
  readonly news: StoreNews[]
  /** What the store reported. */
  readonly problems: StoreProblem[]
  open(open: OpenPart): Promise<unknown>
  call(part: number, method: string, ...args: readonly unknown[]): Promise<unknown>
}

/** Runs a test with a store on the disk; `hear` answers what the thread is told. */
export async function withHost(
  run: (hosted: Hosted) => Promise<void>,
  hear: (news: StoreNews) => unknown = () => undefined,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'host-'))
  const problems: StoreProblem[] = []
  const report = (problem: StoreProblem): void => void problems.push(problem)
  const engine = await openLevel(folder, { report, logFormat: { chunkRows: 4, blockRows: 16 } })
  const news: StoreNews[] = []
  const peers = new Peers()
  const tell = async (told: StoreNews): Promise<unknown> => {
    news.push(told)
    return hear(told)
  }
  peers.add(tell)
  const host = new HostStore(() => engine, tell, peers)
  const open = (open: OpenPart) => host.answer({ open })
  const call = (part: number, method: string, ...args: readonly unknown[]) =>
    host.answer({ call: { part, method, args } })
  try {
    await run({ engine, host, peers, news, problems, open, call })
  } finally {
    host.clear()
    await engine.close()
    await rm(folder, { recursive: true })
  }
}

/** Lets everything happen that can happen now. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
