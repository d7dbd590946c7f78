import { boot, type Kernel } from '../boot.ts'
import { type Config, ConfigError, loadConfig } from '../config.ts'
import { explain } from '../manifest.ts'

/** EX_CONFIG of sysexits. */
const badConfiguration = 78

/** Runs the gateway until it is told to stop. */
export async function start(): Promise<void> {
  const began = performance.now()
  const config = configuration()
  if (!config) return
  try {
    const kernel = await boot({ config, env: process.env })
    stopOnSignals(kernel)
    console.log(greeting(kernel, performance.now() - began))
  } catch (error) {
    console.error(`The gateway could not start: ${explain(error)}`)
    process.exitCode = 1
  }
}

/** The configuration, or nothing when it is wrong: then every problem was told and the exit code set. */
export function configuration(): Config | undefined {
  try {
    return loadConfig({ env: process.env, cwd: process.cwd() })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const problem of error.problems) console.error(problem)
    process.exitCode = badConfiguration
    return undefined
  }
}

/** The first signal drains; a second one ends the process at once. */
function stopOnSignals(kernel: Kernel): void {
  let stopping = false
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1)
    stopping = true
    console.log(`${signal}: letting running calls end…`)
    kernel.close().then(
      () => process.exit(0),
      (error) => {
        console.error(`Closing failed: ${explain(error)}`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** What a person at the terminal needs to know. */
function greeting({ url, registry, directory, newAdminKey }: Kernel, ms: number): string {
  const modules = registry.plugins.filter(({ manifest }) => manifest?.kind === 'module')
  const on = modules.filter(({ instance }) => instance)
  const ready = directory.providers.filter(({ configured, spec }) => configured && !spec.fallback)
  const broken = registry.plugins.filter((plugin) =>
    ['failed', 'invalid', 'waiting'].includes(registry.stateOf(plugin)),
  )
  const key = newAdminKey ?? '<key>'
  return [
    `Switchyard listens on ${url} (${Math.round(ms)} ms)`,
    ...(newAdminKey ? [`Admin key, shown this once: ${newAdminKey}`] : []),
    `Modules: ${on.length} of ${modules.length} on.`,
    ready.length > 0
      ? `Providers with a key: ${ready.map(({ name }) => name).join(', ')}.`
      : 'No provider has a key yet: the mock provider answers. Set OPENAI_API_KEY, for one, and start again.',
    ...broken.map(({ id, problem }) => `Not running: ${id}: ${problem}`),
    `Try: curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'`,
  ].join('\n')
}
