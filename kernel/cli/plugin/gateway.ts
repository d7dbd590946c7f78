import path from 'node:path'
import { z } from 'zod'
import { openLevel } from '../../../storage/level.ts'
import type { Config } from '../../config.ts'
import { explain } from '../../plugin/manifest.ts'
import { changed, storedSetting } from '../../plugin/setting.ts'
import { answers, urlOf } from '../checks/port.ts'

export interface GatewayOptions {
  /** Where the gateway listens, when not where the configuration says. */
  readonly url?: string
  /** An admin key, when the configuration has none. */
  readonly key?: string
}

/** What a command does to the gateway whose plugins it changes: through its API while it runs, else in its store. */
export interface Gateway {
  readonly running: boolean
  /** Takes in what is recorded as installed. Throws why a plugin was not taken; it runs as it did then. */
  refresh(id: string): Promise<void>
  enable(id: string): Promise<void>
  close(): Promise<void>
}

const failure = z.object({ error: z.object({ message: z.string() }) })
const rescanned = z.object({ failed: z.array(z.object({ name: z.string(), problem: z.string() })) })

/**
 * The gateway of a configuration. When none answers, its store is opened, so that none can start until `close`; throws
 * when somebody else has it open.
 */
export async function reachGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const url = options.url ?? (config.port === 0 ? undefined : urlOf(config))
  if (url !== undefined && (await answers(url))) return runningGateway(url, options.key ?? config.adminKey)
  if (options.url !== undefined) throw new Error(`no gateway answers on ${options.url}`)
  return stoppedGateway(config.dataDir)
}

function runningGateway(url: string, key: string | undefined): Gateway {
  if (!key) {
    throw new Error(
      `a gateway runs on ${url}: give an admin key of it with --key or SERVICE_ADMIN_KEY, or stop it first`,
    )
  }
  const call = async (method: string, at: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(url + at, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer: unknown = await response.json()
    if (response.ok) return answer
    throw new Error(failure.safeParse(answer).data?.error.message ?? `${url} answered ${response.status}`)
  }
  return {
    running: true,
    async refresh(id) {
      const { failed } = rescanned.parse(await call('POST', '/api/plugins/rescan'))
      const own = failed.find(({ name }) => name === id)
      if (own) throw new Error(own.problem)
    },
    enable: async (id) => void (await call('PUT', `/api/plugins/${id}`, { enabled: true })),
    close: async () => {},
  }
}

async function stoppedGateway(dataDir: string): Promise<Gateway> {
  const engine = await openLevel(path.join(dataDir, 'db')).catch((error: unknown) => {
    throw new Error(`the store cannot be opened: ${explain(error)} If a gateway runs, say where with --url.`)
  })
  const settings = engine.namespace('kernel').collection('settings', { schema: storedSetting })
  return {
    running: false,
    refresh: async () => {},
    enable: async (id) => settings.put(id, changed(await settings.get(id), { enabled: true })),
    close: () => engine.close(),
  }
}
