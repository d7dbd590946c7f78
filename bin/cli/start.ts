import { type Config, ConfigError } from '../../config/config.ts'
import { type Gateway, type GatewayOptions, openGateway } from '../../gateway/gateway.ts'
import { createLog } from '../../gateway/log.ts'
import { outliveStrayErrors } from '../../gateway/stray-errors.ts'
import { reserveYoungGeneration } from '../../gateway/threads/young-generation.ts'
import { explain } from '../../kit/explain.ts'
import { contain } from '../../kit/work/contain.ts'
import { adminKeyProblem } from './checks/admin-key.ts'
import { configuration, refuseConfiguration } from './configuration.ts'
import { folderProblem } from './data-folder.ts'
import { greeting } from './greeting.ts'
import { tidyPackages } from './packages/upkeep.ts'
import { growUnderLoad, releaseAtRest } from './rest.ts'
import { forgetRunning, noteRunning } from './running.ts'

/** Runs the gateway until it gets a signal to end. */
export async function start(): Promise<void> {
  const began = performance.now()
  reserveYoungGeneration()
  const config = configuration()
  if (!config) return
  const log = createLog({ level: config.logLevel })
  let kernel: Gateway | undefined
  const end = ender(async () => {
    await kernel?.close()
    await forgetRunning(config.dataDir)
  })
  outliveStrayErrors({ log, plugins: () => kernel?.registry.plugins ?? [], drain: () => end(1) })
  try {
    const problem = await folderProblem(config.dataDir)
    if (problem) throw new ConfigError([`The gateway could not start: ${problem}`])
    const weak = adminKeyProblem(config)
    if (weak) log.warn(weak)
    const upkeep: GatewayOptions['upkeep'] = (found, pluginData) =>
      tidyPackages(config.dataDir, found, pluginData)
    kernel = await openGateway({ config, env: process.env, log, upkeep })
    // Before anything else that could fail: it is kept nowhere.
    if (kernel.newAdminKey) console.log(`Admin key, shown only once: ${kernel.newAdminKey}`)
    await noteRunning(config.dataDir, kernel.url)
    stopOnSignals(end)
    console.log(greeting(kernel, performance.now() - began))
    growUnderLoad()
    releaseAtRest()
  } catch (error) {
    if (error instanceof ConfigError) return refuseConfiguration(error)
    console.error(`The gateway could not start: ${reasonOf(error, config)}`)
    process.exitCode = 1
    if (kernel) end(1)
  }
}

/** The error, and the remedy where it is known. */
function reasonOf(error: unknown, { host, port }: Config): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return `port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with SERVICE_PORT.`
  }
  if (code === 'EADDRNOTAVAIL')
    return `this machine has no address ${host}. Choose another with SERVICE_HOST.`
  if (code === 'ENOTFOUND')
    return `host ${host} is no address of this machine, and no name of one. Choose another with SERVICE_HOST.`
  if (code === 'EACCES')
    return `this user may not listen on port ${port}, or may not write to the data folder (${explain(error)}).`
  return explain(error)
}

/** Ends the process once the gateway is closed; asked again, only waits for that. */
function ender(close: () => Promise<void>): (code: number) => void {
  let isEnding = false
  return (code) => {
    if (isEnding) return
    isEnding = true
    close()
      .then(() => process.exit(code))
      .catch((error) => {
        console.error(`Closing failed: ${explain(error)}`)
        process.exit(1)
      })
  }
}

/** The first signal drains; a second one ends the process at once. */
function stopOnSignals(end: (code: number) => void): void {
  let isStopping = false
  const stop = contain('a signal', (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(1)
    isStopping = true
    console.log(`${signal}: waiting for running calls to end…`)
    end(0)
  })
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}
