import { existsSync } from 'node:fs'
import type { Config } from '../../../config/config.ts'
import { explain } from '../../../kit/explain.ts'
import { configuration } from '../configuration.ts'
import { removeLeftovers } from '../packages/leftovers.ts'
import { alone } from '../packages/lock.ts'
import { endRemovals } from '../packages/removal.ts'
import { type Gateway, type GatewayOptions, reachGateway } from './gateway.ts'

export interface OutputOptions {
  readonly json?: boolean
}

export type SessionOptions = GatewayOptions & OutputOptions

export interface Session {
  readonly config: Config
  readonly gateway: Gateway
  /** Plugins whose removal an earlier command had begun, and this one has ended before anything else. */
  readonly removed: readonly string[]
  /** Tells a person how it goes; nothing with `--json`. */
  say(line: string): void
}

/** Prints the result of a command, with `--json` as JSON. Prints an error in one line, with exit code 1. */
export async function report<R extends object>(
  { json = false }: OutputOptions,
  run: (config: Config) => Promise<R>,
  summary: (result: R) => string,
): Promise<void> {
  const config = configuration()
  if (!config) return
  try {
    const result = await run(config)
    console.log(json ? JSON.stringify(result, null, 2) : summary(result))
  } catch (error) {
    if (json) console.log(JSON.stringify({ error: explain(error) }, null, 2))
    else console.error(explain(error))
    process.exitCode = 1
  }
}

interface Beginning {
  /** Whether the command may be the first thing that is done with a gateway: it makes the data folder then. */
  readonly isFirst?: boolean
}

/**
 * Runs and reports a command that changes the plugins of the configured gateway. One at a time has its turn; it finds no
 * leftovers of others, and leaves none.
 */
export function inSession<R extends object>(
  options: SessionOptions,
  run: (session: Session) => Promise<R>,
  summary: (result: R) => string,
  { isFirst = false }: Beginning = {},
): Promise<void> {
  const say = options.json ? () => {} : (line: string) => console.log(line)
  const onWait = (): void =>
    console.error('Another "switchyard plugin" command is running; waiting for it to end.')
  return report(
    options,
    (config) => {
      demandData(config, isFirst)
      return alone(
        config.dataDir,
        async () => {
          await removeLeftovers(config.dataDir)
          const gateway = await reachGateway(config, options)
          try {
            const { ended, failed } = await endRemovals(config.dataDir, gateway.leave)
            for (const { id, error } of failed)
              console.error(`The earlier removal of ${id} cannot be completed yet: ${explain(error)}`)
            return await run({ config, gateway, removed: ended, say })
          } finally {
            await gateway.close()
            await removeLeftovers(config.dataDir)
          }
        },
        { onWait },
      )
    },
    summary,
  )
}

/** Throws where no gateway has its data yet, so that none is made there by looking, unless this is what begins one. */
function demandData({ dataDir }: Config, isFirst: boolean): void {
  if (existsSync(dataDir)) return
  if (isFirst) console.error(`The folder ${dataDir} does not exist yet; it is created for installed plugins.`)
  else
    throw new Error(
      `the folder ${dataDir} does not exist, so nothing is installed: run this where the gateway's service.yaml is`,
    )
}
