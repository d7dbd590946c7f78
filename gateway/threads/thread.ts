import { parentPort, workerData } from 'node:worker_threads'
import type { Kernel } from '../../kernel/boot.ts'
import type { NumberedNews, PluginNews } from '../../kernel/plugin/change.ts'
import type { Reloader } from '../../kernel/plugin/reloader.ts'
import type { Queues } from '../../kernel/queues.ts'
import { kernelServices } from '../../kernel/services.ts'
import { explain } from '../../kit/explain.ts'
import { RpcPort } from '../../storage/shared/rpc-port.ts'
import { openShared } from '../../storage/shared.ts'
import { errors } from '../../workers/thrown.ts'
import { openGateway } from '../gateway.ts'
import { createLog } from '../log.ts'
import { outliveStrayErrors } from '../stray-errors.ts'
import type { FirstMethods, ThreadData, ThreadMethods } from './methods.ts'
import { type Relayed, ThreadRelay } from './relay.ts'

/** A further thread of the gateway: the whole kernel, on the first thread's store and port. */
const { config, env, store, ...place } = workerData as ThreadData
let kernel: Kernel | undefined

// The first thread has already reported the start.
const log = createLog({
  level: config.logLevel,
  stream: { write: (line: string) => kernel && process.stderr.write(line) },
}).child({ thread: place.number })
outliveStrayErrors({ log, plugins: () => kernel?.registry.plugins ?? [], drain })

const relay = new ThreadRelay({ tell: send, ask: (key, data) => first.call('ask', { key, data }) })
const first = new RpcPort<FirstMethods, ThreadMethods>(
  parentPort!,
  {
    boot: start,
    follow,
    run: (key) => relay.run(key),
    meter: (id) => ready().registry.find(id)?.meter.state,
    resetMeter: (id) => ready().registry.find(id)?.meter.reset(),
    queues: () => ready().container.resolve<Queues>(kernelServices.queues).read(),
    close: () => ready().close(),
  },
  { errors },
)

async function start(): Promise<void> {
  const failed = (err: unknown): void => log.error({ err }, 'the store failed')
  const engine = openShared(store, { failed, report: ({ message, ...at }) => log.error(at, message) })
  try {
    kernel = await openGateway({ config, env, log, thread: { ...place, engine, relay } })
  } catch (error) {
    throw new Error(explain(error))
  }
}

function ready(): Kernel {
  if (kernel) return kernel
  throw new Error('this thread is not ready')
}

/** Values that cannot cross are left out, and the rest crosses. */
function send(relayed: readonly Relayed[]): void {
  first.call('relay', relayed).catch((error) => {
    if (relayed.length > 1) for (const one of relayed) send([one])
    else log.error({ err: error }, 'a message could not be sent to the first thread')
  })
}

/** Lets running calls end, and the thread with them; the first thread starts another in its place. */
function drain(): void {
  const closed = kernel?.close() ?? Promise.resolve()
  closed.catch(() => {}).finally(() => process.exit(1))
}

async function follow({ generation, ...news }: NumberedNews): Promise<void> {
  const { registry } = ready()
  registry.expect(generation)
  await take(news)
  await registry.renumber()
}

async function take(news: PluginNews): Promise<void> {
  const { registry, container } = ready()
  if ('set' in news) return registry.follow(news.set)
  if ('removed' in news) {
    if (registry.find(news.removed)) await registry.remove(news.removed)
    return
  }
  const reloader = container.resolve<Reloader>(kernelServices.reloader)
  // Only a reload tries content again that failed here before and is unchanged.
  if (registry.find(news.installed)) await reloader.reload(news.installed)
  else await reloader.rescan(new Set([news.installed]))
}
