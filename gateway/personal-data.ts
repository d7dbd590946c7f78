import type { Erasure, Personal, PersonalData, PersonalSums } from '../kernel/contract/personal-data.ts'
import type { Log } from '../kernel/log.ts'
import type { Registry } from '../kernel/plugin/registry.ts'
import { internalError } from '../kit/errors.ts'
import type { Engine } from '../storage/index.ts'
import { sleepingOf } from './sleeping.ts'

/** Asks the plugins of the generation that runs, and those that do not run and have something in the store. */
export function personalOf(
  registry: Pick<Registry, 'generation' | 'askDormant' | 'find' | 'whileStill'>,
  engine: Pick<Engine, 'contents'>,
  log: Log,
): Personal {
  async function sumUp(
    why: Erasure,
    ask: (data: PersonalData) => number | Promise<number>,
  ): Promise<PersonalSums> {
    const asked = registry.generation
    const sums: Record<string, number> = {}
    const failed = new Set<string>()
    const fail = (plugin: string, err: unknown): void => {
      failed.add(plugin)
      log.error({ plugin, err }, 'a plugin failed over personal data')
    }
    const askOne = async (plugin: string, data: PersonalData): Promise<void> => {
      if (data.on && !data.on.includes(why)) return
      try {
        const things = await ask(data)
        if (things > 0) sums[plugin] = (sums[plugin] ?? 0) + things
      } catch (err) {
        fail(plugin, err)
      }
    }
    asked.lease()
    try {
      for (const { plugin, data } of asked.personal) await askOne(plugin, data)
    } finally {
      asked.release()
    }
    await registry.whileStill(async () => {
      for (const id of (await sleepingOf(registry, engine)).ids)
        await registry.askDormant(id, (data) => askOne(id, data)).catch((error: unknown) => fail(id, error))
    })
    if (failed.size === 0) return sums
    const names = [...failed]
    throw internalError(
      `Personal data kept by ${names.join(', ')} could not be processed; the log has the reason. Try again.`,
      {
        details: { failed: names, done: sums },
      },
    )
  }
  return {
    count: (subject) => sumUp('request', (data) => data.count(subject)),
    erase: (subject, why) => sumUp(why, (data) => data.erase(subject)),
    unclaimed: async () => (await sleepingOf(registry, engine)).unclaimed,
  }
}
