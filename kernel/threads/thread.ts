import { workerData } from 'node:worker_threads'
import { PortCalls } from '../../storage/shared/port-calls.ts'
import { openShared } from '../../storage/shared.ts'
import { boot, type Kernel } from '../boot.ts'
import { createLog } from '../log.ts'
import { explain } from '../plugin/manifest.ts'
import { type Relayed, ThreadRelay } from '../plugin/relay.ts'
import type { Reloader } from '../plugin/reloader.ts'
import type { PluginNews } from '../plugin/transaction.ts'
import type { Queues } from '../queues.ts'
import { kernelServices } from '../services.ts'
import { outliveStrayErrors } from '../stray-errors.ts'
import type { ThreadData, ToFirst, ToThread } from './messages.ts'

/** A further thread of the gateway: the whole kernel, on the first thread's store and port. */
const data = workerData as ThreadData
let kernel: Kernel | undefined
let isReady = false

const tell = (message: ToFirst): Promise<unknown> => control.call(message)
const control = new PortCalls(data.control, (message) => heard(message as ToThread))

// What is to be said of the start, the first thread has said.
const log = createLog({
  level: data.config.logLevel,
  stream: { write: (line: string) => isReady && process.stderr.write(line) },
}).child({ thread: data.number })
outliveStrayErrors({ log, plugins: () => kernel?.registry.plugins ?? [], drain })

const relay = new ThreadRelay({ tell: send, ask: (asked, data) => tell({ asked, data }) })

try {
  const failed = (err: unknown): void => log.error({ err }, 'the store failed')
  const engine = openShared(data.store, {
    failed,
    report: ({ message, ...place }) => log.error(place, message),
  })
  kernel = await boot({ config: data.config, env: data.env, log, thread: { ...data, engine, relay } })
  isReady = true
  await tell({ ready: true })
} catch (error) {
  await tell({ failed: explain(error) })
  process.exit(1)
}

/** What cannot cross is left out, and the rest crosses. */
function send(relayed: readonly Relayed[]): void {
  tell({ relayed }).catch((error) => {
    if (relayed.length > 1) for (const one of relayed) send([one])
    else log.error({ err: error }, 'something could not be told to the first thread')
  })
}

/** Lets running calls end, and the thread with them; the first thread starts another in its place. */
function drain(): void {
  const closed = kernel?.close() ?? Promise.resolve()
  closed.catch(() => {}).finally(() => process.exit(1))
}

async function heard(message: ToThread): Promise<unknown> {
  if (!kernel) throw new Error('this thread is not ready')
  const { registry, container } = kernel
  if ('plugin' in message) return follow(kernel, message.plugin)
  if ('meter' in message) return registry.find(message.meter)?.meter.state
  if ('reset' in message) return registry.find(message.reset)?.meter.reset()
  if ('queues' in message) return container.resolve<Queues>(kernelServices.queues).read()
  if ('run' in message) return relay.run(message.run)
  return kernel.close()
}

async function follow({ registry, container }: Kernel, news: PluginNews): Promise<void> {
  if ('set' in news) return registry.follow(news.set)
  if ('removed' in news) return registry.find(news.removed) && registry.remove(news.removed)
  const reloader = container.resolve<Reloader>(kernelServices.reloader)
  // What failed here before, and has the same content now, is tried again by a reload only.
  if (registry.find(news.installed)) await reloader.reload(news.installed)
  else await reloader.rescan(new Set([news.installed]))
}
