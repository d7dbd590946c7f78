import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Config, ConfigError, loadConfig } from '../../config/config.ts'
import type { SettingChange } from '../../config/setting.ts'
import { readConfigured } from '../../gateway/configured.ts'
import { discoverPlugins } from '../../gateway/discovery/discovery.ts'
import type { Discovered } from '../../kernel/discovery/manifest.ts'
import { explain } from '../../kit/explain.ts'
import { Stage } from '../../staging/stage.ts'
import { checkAdminKey } from './checks/admin-key.ts'
import { checkData } from './checks/data.ts'
import { checkPlugins } from './checks/plugins.ts'
import { checkPort } from './checks/port.ts'
import { checkProviders, probeProviders } from './checks/providers.ts'
import { type Check, failed, ok } from './checks/result.ts'
import { checkRuntime } from './checks/runtime.ts'
import { checkStopped } from './checks/stopped.ts'
import { checkTokenizers } from './checks/tokenizers.ts'
import { badConfiguration } from './configuration.ts'
import { findRunning } from './running.ts'

interface DoctorOptions {
  readonly json?: boolean
  readonly checkProviders?: boolean
  readonly repair?: boolean
}

const marks = { ok: '✓', warning: '!', failed: '✗' } as const

/**
 * Checks everything that a start needs and reports problems: exit code 1, or 78 for the configuration. Changes nothing, except
 * repairs that the caller asks for.
 */
export async function doctor(options: DoctorOptions): Promise<void> {
  const checks = [checkRuntime(), ...(await attempt('configuration', () => examined(options)))]
  const broken = checks.some(({ status }) => status === 'failed')
  if (broken) process.exitCode ??= 1
  if (options.json) console.log(JSON.stringify({ status: broken ? 'failed' : 'ok', checks }, null, 2))
  else for (const { name, status, message } of checks) console.log(`${marks[status]} ${name}: ${message}`)
}

/** The results of checks. An error of theirs is a failed one of this name: it keeps no others from being made. */
async function attempt(name: string, make: () => Promise<Check[]> | Check[]): Promise<Check[]> {
  try {
    return await make()
  } catch (error) {
    if (!(error instanceof ConfigError)) return [failed(name, explain(error))]
    process.exitCode = badConfiguration
    return error.problems.map((problem) => failed('configuration', problem))
  }
}

async function examined({ checkProviders: ask = false, repair = false }: DoctorOptions): Promise<Check[]> {
  const config = loadConfig({ env: process.env, cwd: process.cwd() })
  const running = await findRunning(config)
  const plugins = await attempt('plugins', () => examinePlugins(config, running, ask))
  const isSound = plugins.every(({ name }) => name !== 'configuration')
  return [
    ...(isSound
      ? [ok('configuration', config.file ?? 'no service.yaml: the defaults and the environment')]
      : []),
    ...checkAdminKey(config),
    ...(await attempt('data folder', () => checkData(config, { running: running !== undefined, repair }))),
    await checkPort(config, running),
    ...plugins,
  ]
}

/** Checks the plugins, and what they are configured with. */
async function examinePlugins(config: Config, running: string | undefined, ask: boolean): Promise<Check[]> {
  const { env } = process
  const { found, configured, plugins } = await loadPlugins(config)
  return [
    ...plugins,
    ...(await checkStopped({ config, configured, found, running })),
    ...(await attempt('providers', () => checkProviders({ config, configured, found, env }))),
    ...(await attempt('tokenizers', () => checkTokenizers(config, configured))),
    ...(ask ? await attempt('providers', () => probeProviders({ config, found, env })) : []),
  ]
}

/** Loads the operator's plugins as a start would, from a copy that is removed again. */
async function loadPlugins(config: Config): Promise<{
  found: Discovered[]
  configured: Readonly<Record<string, SettingChange>>
  plugins: Check[]
}> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-doctor-'))
  const stage = await Stage.open(folder, () => {})
  try {
    const found = await discoverPlugins(config, stage)
    const { changes: configured, problems } = await readConfigured(config, found)
    if (problems.length > 0) process.exitCode = badConfiguration
    const wrong = problems.map((problem) => failed('configuration', problem))
    return { found, configured, plugins: [...wrong, ...(await checkPlugins(found, configured, config))] }
  } finally {
    await stage.close()
    await rm(folder, { recursive: true, force: true })
  }
}
