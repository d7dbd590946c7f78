import type { Erasure, Personal, PersonalData, PersonalSums } from './contract/personal-data.ts'
import { internalError } from './errors.ts'
import type { Log } from './log.ts'
import type { Generation } from './plugin/generation.ts'

/** Asks the plugins of the generation that runs. */
export function personalOf(generation: () => Generation, log: Log): Personal {
  async function sumUp(
    why: Erasure,
    ask: (data: PersonalData) => number | Promise<number>,
  ): Promise<PersonalSums> {
    const asked = generation()
    asked.lease()
    const sums: Record<string, number> = {}
    const failed: string[] = []
    try {
      for (const { plugin, data } of asked.personal) {
        if (data.on && !data.on.includes(why)) continue
        try {
          const things = await ask(data)
          if (things > 0) sums[plugin] = (sums[plugin] ?? 0) + things
        } catch (err) {
          failed.push(plugin)
          log.error({ plugin, err }, 'a plugin failed over personal data')
        }
      }
    } finally {
      asked.release()
    }
    if (failed.length === 0) return sums
    throw internalError(
      `Personal data kept by ${failed.join(', ')} could not be processed; the log has the reason. Try again.`,
      {
        details: { failed, done: sums },
      },
    )
  }
  return {
    count: (subject) => sumUp('request', (data) => data.count(subject)),
    erase: (subject, why) => sumUp(why, (data) => data.erase(subject)),
  }
}
