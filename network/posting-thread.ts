import { SupervisedWorker } from '../workers/supervised-worker.ts'
import { type PostingMethods, rpc } from './methods.ts'
import type { PluginPost } from './post.ts'

/** How long the thread may take to start, in milliseconds. */
const startMs = 30_000
/** How long it may give no sign of life while it posts. */
const hangMs = 15_000
/** Without posts, until its memory is given back. */
const idleMs = 60_000

/**
 * Posts for plugins from a thread of its own, which exists while there are any. Connections to receivers that hang, their
 * timers and the encryption of messages so take no time of the thread that answers calls.
 */
export class PostingThread {
  readonly #worker: SupervisedWorker<PostingMethods>

  /** `allow` is `egress.allow` of the configuration. */
  constructor(allow: readonly string[]) {
    this.#worker = new SupervisedWorker({
      entry: ['./posting', import.meta.url],
      name: 'posts of plugins',
      data: () => ({ value: { allow } }),
      limits: { startMs, hangMs, idleMs },
      methods: {},
      rpc,
    })
  }

  /** Rejects with what went wrong, or when the signal aborts. */
  async post(sent: PluginPost, signal: AbortSignal) {
    await this.#worker.start()
    signal.throwIfAborted()
    return this.#worker.call('post', sent, { signal })
  }

  close(): Promise<void> {
    return this.#worker.close(async () => {}, 0)
  }
}
