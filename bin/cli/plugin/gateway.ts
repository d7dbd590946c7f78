import path from 'node:path'
import { z } from 'zod'
import type { Config } from '../../../config/config.ts'
import { changed } from '../../../config/setting.ts'
import { DiskData } from '../../../gateway/disk-data.ts'
import { explain } from '../../../kit/explain.ts'
import type { StoredPart } from '../../../storage/index.ts'
import { openLevel } from '../../../storage/level.ts'
import { type Installed, type Removal, readInstalled } from '../packages/record.ts'
import { dispose } from '../packages/removal.ts'
import { answers, demandOwn, within } from '../running.ts'

export interface GatewayOptions {
  /** Where the gateway listens, when not where the configuration says. */
  readonly url?: string
  /** An admin key, when the configuration has none. */
  readonly key?: string
  /** How long npm, the conformance kit and each request to the gateway may take, in milliseconds. */
  readonly timeout?: number
}

/** The default time limit of a request to the gateway, in milliseconds. */
const usualMs = 5 * 60_000

/** The changes that a command makes to the gateway: through its API while it runs, else in its store. */
export interface Gateway {
  /**
   * Takes in what is recorded as installed; `folder` is where the plugin must be then, undefined for nowhere. Throws why
   * it was not taken; it runs as it did then.
   */
  refresh(id: string, folder: string | undefined): Promise<void>
  /** Resolves with what keeps it from running nevertheless. */
  enable(id: string): Promise<string | undefined>
  /** The stored data of a plugin and its bindings. */
  stored(id: string): Promise<StoredPart[]>
  /**
   * Sees to it that a plugin that is installed no longer is gone, and with it what its removal names; whether there was
   * anything of that.
   */
  leave(id: string, removal: Removal): Promise<boolean>
  close(): Promise<void>
}

const failure = z.object({ error: z.object({ message: z.string() }) })
const storedParts = z.object({
  stored: z.array(
    z.object({
      kind: z.enum(['collection', 'log', 'sequence', 'counters']),
      path: z.string(),
      entries: z.number(),
    }),
  ),
})
const rescanned = z.object({ failed: z.array(z.object({ name: z.string(), problem: z.string() })) })
const shown = z.object({ state: z.string(), problem: z.string().nullable(), folder: z.string().nullable() })

/**
 * The gateway of a configuration. When none answers, its store is opened, so that none can start until `close`; throws when
 * another process has the store open, and when the one that answers has another data folder.
 */
export async function reachGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  if (options.url !== undefined && !(await answers(options.url)))
    throw new Error(`no gateway answers on ${options.url}`)
  const url = options.url ?? (await demandOwn(config))
  if (url === undefined) return stoppedGateway(config.dataDir)
  const installed = await readInstalled(config.dataDir)
  return runningGateway(url, installed, options.key ?? config.adminKey, options.timeout)
}

/** The gateway that listens there. Throws when it knows nothing of what is installed, as it has another data folder then. */
async function runningGateway(
  url: string,
  installed: Installed,
  key: string | undefined,
  limitMs = usualMs,
): Promise<Gateway> {
  if (!key) {
    throw new Error(
      `a gateway runs on ${url}: give an admin key of it with --key or SERVICE_ADMIN_KEY, or stop it first`,
    )
  }
  const ask = (method: string, at: string, body?: unknown): Promise<Response> =>
    fetch(within(url, at), {
      method,
      signal: AbortSignal.timeout(limitMs),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const answerOf = async (response: Response): Promise<unknown> => {
    const answer: unknown = await response.json()
    if (response.ok) return answer
    throw new Error(failure.safeParse(answer).data?.error.message ?? `${url} answered ${response.status}`)
  }
  /** One of these if there is one. */
  const found = async (response: Response): Promise<unknown> =>
    response.status === 404 ? void (await response.body?.cancel()) : answerOf(response)
  const rescan = async () => rescanned.parse(await answerOf(await ask('POST', '/api/plugins/rescan'))).failed
  const show = async (id: string) =>
    shown.optional().parse(await found(await ask('GET', `/api/plugins/${id}`)))
  const stranger = (): Error =>
    new Error(
      `the gateway on ${url} does not know what is installed here, so it has another data folder: ` +
        'run this where its service.yaml is, or give the URL of the gateway of this folder with --url',
    )
  const refresh: Gateway['refresh'] = async (id, folder) => {
    const own = (await rescan()).find(({ name }) => name === id)
    if (own) throw new Error(own.problem)
    const plugin = await show(id)
    if (folder === undefined ? plugin : !plugin?.folder?.endsWith(folder)) throw stranger()
  }
  const knows = async ([id, { current, previous }]: [string, Installed[string]]): Promise<boolean> => {
    const at = (await show(id))?.folder
    return [current, previous].some((version) => version && at?.endsWith(version.folder))
  }
  const knowsSome = async (): Promise<boolean> => {
    for (const one of Object.entries(installed)) if (await knows(one)) return true
    return false
  }
  // A command that was killed may have left it with an earlier record, or with a version that it does not take.
  const isOwn =
    Object.keys(installed).length === 0 ||
    (await knowsSome()) ||
    (await rescan()).some(({ name }) => name in installed) ||
    (await knowsSome())
  if (!isOwn) throw stranger()
  return {
    refresh,
    async enable(id) {
      const answer = await answerOf(await ask('PUT', `/api/plugins/${id}`, { enabled: true }))
      const { state, problem } = shown.parse(answer)
      return state === 'active' ? undefined : (problem ?? state)
    },
    stored: async (id) =>
      storedParts.parse(await answerOf(await ask('GET', `/api/plugins/${id}/stored`))).stored,
    async leave(id, { settings, stored }) {
      await refresh(id, undefined)
      const deleted = async (what: string): Promise<boolean> =>
        (await found(await ask('DELETE', `/api/plugins/${id}/${what}`))) !== undefined
      const erased = stored === 'erased' && (await deleted('stored'))
      const forgotten = settings === 'forgotten' && (await deleted('settings'))
      return erased || forgotten
    },
    close: async () => {},
  }
}

async function stoppedGateway(dataDir: string): Promise<Gateway> {
  const engine = await openLevel(path.join(dataDir, 'db')).catch((error: unknown) => {
    throw new Error(
      `the store cannot be opened: ${explain(error)} If a gateway runs, give its URL with --url.`,
    )
  })
  const pluginData = new DiskData(engine, dataDir)
  const { settings } = pluginData
  return {
    refresh: async () => {},
    async enable(id) {
      await settings.put(id, changed(await settings.get(id), { enabled: true }))
      return undefined
    },
    stored: (id) => pluginData.stored(id),
    leave: (id, removal) => dispose(id, removal, pluginData),
    close: () => engine.close(),
  }
}
