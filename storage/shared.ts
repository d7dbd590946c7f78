import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Engine, StoredPart, StoreProblem } from './index.ts'
import { Gate } from './level/gate.ts'
import { GuestStore } from './shared/guest-store.ts'
import { HostStore } from './shared/host-store.ts'
import type { StoreAsk, StoreMethods, StoreNews, StoreNewsMethods } from './shared/messages.ts'
import { Peers } from './shared/peers.ts'
import { RpcPort } from './shared/rpc-port.ts'

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
      const tell = (news: StoreNews): Promise<unknown> => thread.call('news', news)
      const host = new HostStore(() => engine, tell, peers)
      const thread = new RpcPort<StoreNewsMethods, StoreMethods>(port, {
        store: (ask) => answer(engine, host, peers, ask),
      })
      peers.add(tell)
      await thread.closed
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

async function answer(engine: Engine, host: HostStore, peers: Peers, ask: StoreAsk): Promise<unknown> {
  if ('contents' in ask) {
    await peers.tellAll({ wanted: '' })
    return engine.contents(ask.contents)
  }
  if ('compact' in ask) return engine.compact()
  if ('copyTo' in ask) {
    await peers.tellAll({ wanted: '' })
    return engine.copyTo(ask.copyTo)
  }
  if ('erase' in ask) {
    await peers.tellAll({ erased: ask.erase })
    return engine.erase(ask.erase)
  }
  if ('flush' in ask) await peers.tellAll({ wanted: ask.flush.join('/') })
  return host.answer(ask)
}

export interface SharedOptions {
  /** Called once for each problem that the store noticed here and survived. */
  readonly report?: (problem: StoreProblem) => void
  /** Called with errors that no caller waits for. */
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
  const owner = new RpcPort<StoreMethods, StoreNewsMethods>(port, { news: (news) => guest.hear(news) })
  const send = (ask: StoreAsk): Promise<unknown> => owner.call('store', ask)
  const guest = new GuestStore({ send, failed, report, gate, crossMs })
  let closed: Promise<void> | undefined
  return {
    name: 'shared',
    ...guest.at([]),
    contents: (prefix) => gate.run(() => send({ contents: prefix }) as Promise<StoredPart[]>),
    erase: (prefix) => gate.run(async () => void (await send({ erase: prefix }))),
    compact: () => gate.run(async () => void (await send({ compact: true }))),
    copyTo: (folder) => gate.run(async () => void (await send({ copyTo: folder }))),
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
      port.close()
      owner.close()
    }
  }
}
