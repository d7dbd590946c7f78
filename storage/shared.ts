import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Engine, StoredPart, StoreProblem } from './index.ts'
import { Gate } from './level/gate.ts'
import { GuestStore } from './shared/guest-store.ts'
import { HostStore } from './shared/host-store.ts'
import type { StoreAsk, StoreNews } from './shared/messages.ts'
import { Peers } from './shared/peers.ts'
import { PortCalls } from './shared/port-calls.ts'

/** An engine that other threads may use as if it were theirs. */
export interface SharedEngine {
  /**
   * Answers a thread that opens the store at the other end of this port, until the port is closed or the thread ends;
   * then what it had open is given back, and the promise resolves.
   */
  serve(port: MessagePort): Promise<void>
  /** The store for this thread, which is as good as any: what has an engine shared must not use it beside them. */
  open(options?: SharedOptions): Engine
}

/** Milliseconds that what a thread has counted waits before the other threads know it. */
const crossMs = 20

/** Shares an engine of this thread, which must be one that `openLevel` opened. */
export function shareEngine(engine: Engine): SharedEngine {
  const peers = new Peers()
  return {
    async serve(port) {
      const tell = (news: StoreNews): Promise<unknown> => calls.call(news)
      const host = new HostStore(() => engine, tell, peers)
      const calls = new PortCalls(port, (ask) => answered(engine, host, peers, ask as StoreAsk))
      peers.add(tell)
      await calls.closed
      peers.delete(tell)
      host.clear()
    },
    open(options) {
      const { port1, port2 } = new MessageChannel()
      this.serve(port1).catch((error) => options?.failed?.(error))
      return openShared(port2, options)
    },
  }
}

async function answered(engine: Engine, host: HostStore, peers: Peers, ask: StoreAsk): Promise<unknown> {
  if ('call' in ask) return host.call(ask.call)
  if ('open' in ask) return host.open(ask.open)
  if ('flush' in ask) {
    await peers.tellAll({ wanted: ask.flush.join('/') })
    return host.flush(ask.flush)
  }
  if ('contents' in ask) {
    await peers.tellAll({ wanted: '' })
    return engine.contents(ask.contents)
  }
  if ('compact' in ask) return engine.compact()
  await peers.tellAll({ erased: ask.erase })
  return engine.erase(ask.erase)
}

export interface SharedOptions {
  /** Told once of each problem that the store noticed here and survived. */
  readonly report?: (problem: StoreProblem) => void
  /** Told what goes wrong that nobody waits for. */
  readonly failed?: (error: unknown) => void
}

/**
 * The store of another thread, which serves it at the other end of this port. Schemas, index functions and all other
 * functions stay in this thread; a function given to `update` or `append` is called again when another thread has written
 * in between. What is closed is this end; the engine itself goes on.
 */
export function openShared(
  port: MessagePort,
  { report = () => {}, failed = () => {} }: SharedOptions = {},
): Engine {
  const gate = new Gate()
  const calls = new PortCalls(port, (news) => guest.hear(news as StoreNews))
  const send = (ask: StoreAsk): Promise<unknown> => calls.call(ask)
  const guest = new GuestStore({ send, failed, report, gate, crossMs })
  let closed: Promise<void> | undefined
  return {
    name: 'shared',
    ...guest.at([]),
    contents: (prefix) => gate.run(() => send({ contents: prefix }) as Promise<StoredPart[]>),
    erase: (prefix) => gate.run(async () => void (await send({ erase: prefix }))),
    compact: () => gate.run(async () => void (await send({ compact: true }))),
    close() {
      closed ??= closeEnd()
      return closed
    },
  }

  async function closeEnd(): Promise<void> {
    await gate.close()
    try {
      await guest.cross('')
      await send({ flush: [] })
    } finally {
      calls.close()
    }
  }
}
