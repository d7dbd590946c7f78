import { stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bareChain } from '../bare.ts'
import { startGateway } from '../harness.ts'
import { selfCopied } from '../plugin-dirs.ts'
import { startUpstream } from '../upstream/index.ts'
import { type Check, checksFor } from './checks.ts'
import { Subject } from './subject.ts'

/** How long one check may take, in milliseconds. */
const limitMs = 60_000

/** How a plugin did in one check. */
export interface CheckResult {
  readonly check: string
  readonly ok: boolean
  /** What is wrong and where, for its author. */
  readonly problem?: string
}

/**
 * The conformance kit: examines the plugin in a folder, in a gateway of its own with every module switched off but those
 * that it requires. Runs the plugin's code. Rejects only when the gateway cannot start.
 */
export async function checkPlugin(folder: string): Promise<CheckResult[]> {
  const there = await stat(folder).catch(() => undefined)
  if (!there?.isDirectory())
    return [{ check: 'is a folder', ok: false, problem: `there is no folder ${folder}` }]
  const problem = await selfCopied(folder)
  if (problem !== undefined) return [{ check: 'is a folder that can be copied', ok: false, problem }]
  await using upstream = await startUpstream()
  const gateway = await startGateway({ upstream, plugins: [folder], freezeAll: true })
  try {
    const { registry } = gateway.kernel
    const at = path.dirname(gateway.dataDir)
    const found = registry.plugins.find((plugin) => plugin.found.folder.startsWith(at))!
    await bareChain(gateway)
    for (const id of found.manifest?.requires ?? []) await registry.change(id, { enabled: true })
    const subject = new Subject(found.id, gateway, upstream)
    const results: CheckResult[] = []
    for (const check of checksFor(found.problem ? undefined : found.manifest?.kind)) {
      const result = await examined(check, subject)
      results.push(result)
      if (check.first && !result.ok) break
    }
    return results
  } finally {
    await gateway.close()
  }
}

async function examined({ name, run }: Check, subject: Subject): Promise<CheckResult> {
  const ended = new AbortController()
  const overrun = sleep(limitMs, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`took longer than ${limitMs / 1000} seconds`)
  })
  try {
    await Promise.race([run(subject), overrun])
    return { check: name, ok: true }
  } catch (error) {
    return { check: name, ok: false, problem: error instanceof Error ? error.message : String(error) }
  } finally {
    ended.abort()
    overrun.catch(() => {})
  }
}
